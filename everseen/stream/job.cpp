#include "everseen/stream/job.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "everseen/core/error.hpp"
#include "everseen/stream/fault_point.hpp"

namespace everseen {

namespace {

/// How long the threads of a job wait before they look whether it is to end.
constexpr std::chrono::milliseconds a_moment{20};
/// How long the reading thread waits for room before it says that it is alive.
constexpr std::chrono::milliseconds a_while{200};

/// Joins a thread however a scope is left.
class joined_thread {
 public:
  template <typename Work, typename Leave>
  joined_thread(Work work, Leave leave) : leave_(std::move(leave)), thread_(std::move(work)) {}
  ~joined_thread() {
    leave_();
    thread_.join();
  }
  joined_thread(const joined_thread&) = delete;
  joined_thread& operator=(const joined_thread&) = delete;

 private:
  std::function<void()> leave_;
  std::thread thread_;
};

}  // namespace

job::job(job_parts parts, job_options options)
    : parts_(parts),
      options_(std::move(options)),
      reader_(options_.events, parts_.seen, options_.reading),
      queue_(options_.batches_ahead) {}
job::~job() = default;

void job::run() {
  begin();
  const joined_thread reading([this] { read(); },
                              [this] {
                                stopping_ = true;
                                queue_.close();
                              });
  settle_all();
}

void job::begin() {
  auto known = parts_.book.checkpoints();
  for (const auto& [name, at] : known) lanes_[name].settled = at.position;
  const auto note = known.find(options_.sink_name);
  const std::string last = note == known.end() ? std::string() : note->second.note;
  if (note != known.end()) known.erase(note);
  parts_.from.begin(known);
  if (parts_.to != nullptr) begin_sink(last);
  result_.way = parts_.seen.stored().way();
  settled_at_ = std::chrono::steady_clock::now();
}

/// Where a sink begins is put down before anything is put out, so that the next run can take it back.
void job::begin_sink(const std::string& note) {
  parts_.to->begin(note);
  if (!note.empty()) return;
  const std::string first = parts_.to->commit({});
  if (first.empty()) return;
  const checkpoint at{options_.sink_name, 0, first};
  parts_.book.settle({&at, 1});
}

void job::read() {
  try {
    read_all();
  } catch (...) {
    read_failure_ = std::current_exception();
  }
  queue_.close();
}

void job::read_all() {
  while (!stopping_) {
    source_batch records;
    const source::state got = parts_.from.next(records, a_moment);
    if (got == source::state::ended) return;
    if (got == source::state::nothing_yet) continue;
    event_batch batch = reader_.read(std::move(records));
    fault_point("read");
    const bool last = batch.stops_at.has_value();
    while (!queue_.push(batch, a_while)) {
      if (stopping_) return;
      parts_.from.keep_up();
    }
    if (last) return;
  }
}

void job::settle_all() {
  try {
    while (settle_next()) continue;
  } catch (...) {
    // What was put out before the failure is done with; if it cannot be settled now, the next run finds the
    // same verdicts. Not so where the sink failed halfway: it may have more than is reached, and would keep
    // that. The failure is what the caller is to hear of.
    try {
      if (sink_is_whole_) settle(if_away::fail);
    } catch (const error&) {
    }
    throw;
  }
  settle(if_away::fail);
  leave_the_rest();
  parts_.from.finish();
  if (read_failure_) std::rethrow_exception(read_failure_);
}

/// @return false  the job is to end
bool job::settle_next() {
  if (auto batch = queue_.pop(a_moment)) {
    if (!deal_with(*batch)) return false;
    if (batch->stops_at) {
      settle(if_away::fail);
      throw format_error("the record at " + std::to_string(batch->stops_at->position) + " of " +
                         batch->from.lane + ' ' + std::string(to_string(batch->stops_at->why)));
    }
  } else if (queue_.has_ended()) {
    return false;
  }
  if (std::chrono::steady_clock::now() >= settled_at_ + options_.settle_every || is_waited_for())
    settle(if_away::later);
  report();
  return true;
}

/// Whether a lane goes to another worker once what was put of it is settled.
bool job::is_waited_for() const {
  return std::ranges::any_of(reached_, [this](const auto& each) {
    return parts_.from.tenure_of(each.first, lanes_.at(each.first).turn) == source::tenure::leaving;
  });
}

/// What was read and not claimed is the next run's. It must not be claimed behind a batch that was given up:
/// the ledger takes every event before one that it judged for judged.
void job::leave_the_rest() {
  stopping_ = true;
  while (!queue_.has_ended())
    if (const auto batch = queue_.pop(a_moment)) parts_.from.abandoned(batch->from);
}

/// @return false  it was given up, and with it the job
bool job::deal_with(event_batch& batch) {
  if (parts_.from.tenure_of(batch.from.lane, batch.from.turn) != source::tenure::ours) {
    parts_.from.abandoned(batch.from);
    return true;
  }
  pass_over_settled(batch);
  const auto failure = claim(batch);
  const bool full = failure && failure->why == batch_failure::cause::full;
  if (failure && !full) {
    const bool away = failure->why == batch_failure::cause::backend;
    if (!away || !stopping_) failure->raise();
    parts_.from.abandoned(batch.from);
    return false;
  }
  if (full) {  // all before the first event without room is done with
    const auto first = std::ranges::find(verdicts_, verdict::unknown);
    batch.end_before(static_cast<std::size_t>(first - verdicts_.begin()));
    verdicts_.erase(first, verdicts_.end());
    claimed_before_.resize(verdicts_.size());
  }
  fault_point("claimed");
  put(batch);
  fault_point("put");
  remember(batch);
  if (full) failure->raise();
  return true;
}

/// What was put in an earlier turn is settled, or taken back, before anything of this one is.
void job::begin_turn(const source_batch& batch) {
  if (reached_.contains(batch.lane)) settle(if_away::later);
  lane& of = lanes_[batch.lane];
  of.turn = batch.turn;
  of.looked_up = false;
}

/// What another worker has settled, and what this one has put out already: a lane that begins again is read
/// again from what was settled on, which may be a while ago.
void job::pass_over_settled(event_batch& batch) {
  if (batch.from.begins) begin_turn(batch.from);
  static_cast<void>(look_up(batch.from.lane));
  const lane& known = lanes_[batch.from.lane];
  batch.drop_before(std::max(known.settled, known.put));
}

/// @return false  the store is away, and that is passed by
bool job::look_up(const std::string& name) {
  lane& of = lanes_[name];
  if (of.looked_up) return true;
  try {
    const auto known = parts_.book.checkpoints();
    if (const auto found = known.find(name); found != known.end()) {
      parts_.from.must_be_of(found->second);
      of.settled = std::max(of.settled, found->second.position);
    }
  } catch (const backend_error&) {
    if (options_.on_outage != job_options::outage::pass) throw;
    of.passed = true;
    if (!result_.passed) result_.passed = batch_failure::from_current_exception();
    return false;
  }
  return of.looked_up = true;
}

/// @return why the job is to end
std::optional<batch_failure> job::claim(const event_batch& batch) {
  const std::size_t count = batch.positions.size();
  verdicts_.assign(count, verdict::unknown);
  claimed_before_.assign(count, 0);
  if (count == 0) return {};
  if (!may_claim(batch.from.lane)) return {};
  const std::size_t per_event = options_.events.counts.size();
  const auto batches = sorted_.sort(
      {batch.digests, batch.positions, batch.times, {batch.names.all(), batch.of_event, per_event}},
      parts_.seen.get_spec().partitions);
  const auto judged = parts_.book.claim({batch.from.lane, lanes_[batch.from.lane].settled}, batches);
  sorted_.gather(verdicts_, claimed_before_);
  if (judged) return {};
  const bool away = judged.error().why == batch_failure::cause::backend;
  if (!away || options_.on_outage != job_options::outage::pass) return judged.error();
  lanes_[batch.from.lane].passed = true;
  if (!result_.passed) result_.passed = judged.error();
  return {};
}

/// What was passed by must be settled before anything behind it is claimed: once that is, a replay would be
/// told `seen` of it.
bool job::may_claim(const std::string& name) {
  const lane& of = lanes_[name];
  return (!of.passed || settle(if_away::later)) && of.looked_up;
}

/// What is written aside comes first: it may come twice in any case, and where that fails the sink has
/// nothing yet that would have to be taken back.
void job::put(const event_batch& batch) {
  write_aside(batch);
  if (parts_.to == nullptr) return;
  sink_is_whole_ = false;
  parts_.to->put({batch.from, verdicts_, claimed_before_});
}

void job::write_aside(const event_batch& batch) {
  const auto write = [&](output* to, verdict wanted) {
    if (to == nullptr) return;
    std::string text;
    for (std::size_t i = 0; i < verdicts_.size(); ++i)
      if (verdicts_[i] == wanted) (text += batch.from.records[i].bytes) += '\n';
    if (!text.empty()) to->write(text);
  };
  write(options_.seen_to, verdict::seen);
  write(options_.late_to, verdict::late);
  if (options_.bad_to == nullptr || batch.bad.empty()) return;
  std::string text;
  for (const bad_event& bad : batch.bad) (text += bad.bytes) += '\n';
  options_.bad_to->write(text);
}

void job::remember(const event_batch& batch) {
  for (const verdict v : verdicts_) {
    result_.verdicts.fresh += v == verdict::fresh;
    result_.verdicts.seen += v == verdict::seen;
    result_.verdicts.late += v == verdict::late;
    result_.verdicts.unknown += v == verdict::unknown;
  }
  result_.events += verdicts_.size();
  result_.bad += batch.bad.size();
  result_.replayed +=
      static_cast<std::uint64_t>(std::count(claimed_before_.begin(), claimed_before_.end(), 1));
  result_.bytes += batch.bytes;
  if (batch.newest) result_.newest = std::max(result_.newest.value_or(*batch.newest), *batch.newest);
  sink_is_whole_ = true;
  lane& of = lanes_[batch.from.lane];
  of.put = std::max(of.put, batch.from.next);
  checkpoint at = parts_.from.reached(batch.from);
  if (at.position <= of.settled) {  // passed over: to put it down would be a step back
    parts_.from.settled({&at, 1});
    return;
  }
  checkpoint& furthest = reached_[at.source];  // what was read again may end before it
  if (furthest.position <= at.position) furthest = std::move(at);
  unsettled_since_.push_back(batch.read_at);
}

/// @return false  the store is away, and that is passed by: later, then
bool job::settle(if_away then) {
  settled_at_ = std::chrono::steady_clock::now();
  if (reached_.empty()) return true;
  commit();
  try {
    put_down();
  } catch (const backend_error&) {
    if (then == if_away::fail || options_.on_outage != job_options::outage::pass) throw;
    return false;
  }
  account();
  return true;
}

void job::commit() {
  if (parts_.to != nullptr) {
    sink_is_whole_ = false;
    parts_.to->leave_lost(reached_);
    for (auto& [name, of] : lanes_)
      if (!reached_.contains(name)) of.put = of.settled;
    sink_note_ = parts_.to->commit(all_reached());
    sink_is_whole_ = true;
  }
  fault_point("committed");
}

/// The positions, and the sink's note as of them, in one step.
void job::put_down() const {
  auto all = all_reached();
  if (!sink_note_.empty()) all.push_back({options_.sink_name, 0, sink_note_});
  parts_.book.settle(all);
  fault_point("settled");
}

void job::account() {
  const auto all = all_reached();
  parts_.from.settled(all);
  fault_point("accounted");
  for (const checkpoint& each : all) {
    lanes_[each.source].settled = each.position;
    lanes_[each.source].passed = false;
  }
  reached_.clear();
  const auto now = std::chrono::steady_clock::now();
  if (options_.settled)
    for (const auto since : unsettled_since_) options_.settled(now - since);
  unsettled_since_.clear();
}

std::vector<checkpoint> job::all_reached() const {
  std::vector<checkpoint> all;
  for (const auto& [name, at] : reached_) all.push_back(at);
  return all;
}

void job::report() {
  if (!options_.progress) return;
  result_.lag = parts_.from.lag();
  options_.progress(result_);
}

}  // namespace everseen
