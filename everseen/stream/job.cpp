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
    if (!queue_.push(std::move(batch)) || last) return;
  }
}

void job::settle_all() {
  try {
    while (settle_next()) continue;
  } catch (...) {
    // What was put out before the failure is done with; if it cannot be settled now, the next run finds the
    // same verdicts. The failure is what the caller is to hear of.
    try {
      settle();
    } catch (const error&) {
    }
    throw;
  }
  settle();
  parts_.from.finish();
  if (read_failure_) std::rethrow_exception(read_failure_);
}

bool job::settle_next() {
  if (auto batch = queue_.pop(a_moment)) {
    deal_with(*batch);
    if (batch->stops_at) {
      settle();
      throw format_error("the record at " + std::to_string(batch->stops_at->position) + " of " +
                         batch->from.lane + ' ' + std::string(to_string(batch->stops_at->why)));
    }
  } else if (queue_.has_ended()) {
    return false;
  }
  if (std::chrono::steady_clock::now() >= settled_at_ + options_.settle_every) {
    if (options_.on_outage != job_options::outage::pass) {
      settle();
    } else {
      try {
        settle();
      } catch (const backend_error&) {  // later, then; nothing is claimed of what was passed by until it is
      }
    }
  }
  report();
  return true;
}

void job::deal_with(event_batch& batch) {
  if (!parts_.from.has(batch.from.lane)) {
    parts_.from.abandoned(batch.from);
    return;
  }
  pass_over_settled(batch);
  if (!claim(batch)) return;
  fault_point("claimed");
  put(batch);
  fault_point("put");
  remember(batch);
}

void job::pass_over_settled(event_batch& batch) {
  if (batch.from.begins && !lanes_[batch.from.lane].passed) {
    const auto known = parts_.book.checkpoints();  // another worker may have had the lane meanwhile
    if (const auto found = known.find(batch.from.lane); found != known.end())
      lanes_[batch.from.lane].settled = std::max(lanes_[batch.from.lane].settled, found->second.position);
  }
  batch.drop_before(lanes_[batch.from.lane].settled);
}

/// @return false  the job is to end, and the events are left to the next run
bool job::claim(event_batch& batch) {
  const std::size_t count = batch.positions.size();
  verdicts_.assign(count, verdict::unknown);
  claimed_before_.assign(count, 0);
  if (count == 0) return true;
  if (!may_claim(batch.from.lane)) return true;
  const std::size_t per_event = options_.events.counts.size();
  const auto batches = sorted_.sort(
      {batch.digests, batch.positions, batch.times, {batch.names.all(), batch.of_event, per_event}},
      parts_.seen.get_spec().partitions);
  const auto judged = parts_.book.claim({batch.from.lane, lanes_[batch.from.lane].settled}, batches);
  sorted_.gather(verdicts_, claimed_before_);
  if (judged) return true;
  const bool away = judged.error().why == batch_failure::cause::backend;
  if (!away || options_.on_outage != job_options::outage::pass) {
    if (away && stopping_) return false;
    judged.error().raise();
  }
  lanes_[batch.from.lane].passed = true;
  if (!result_.passed) result_.passed = judged.error();
  return true;
}

/// What was passed by must be settled before anything behind it is claimed: once that is, a replay would be
/// told `seen` of it.
bool job::may_claim(const std::string& name) {
  if (!lanes_[name].passed) return true;
  try {
    settle();
    return true;
  } catch (const backend_error&) {
    return false;
  }
}

void job::put(const event_batch& batch) {
  if (parts_.to != nullptr && !verdicts_.empty()) parts_.to->put({batch.from, verdicts_, claimed_before_});
  write_aside(batch);
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
  checkpoint at = parts_.from.reached(batch.from);
  if (at.position <= lanes_[at.source].settled) {  // passed over: to put it down would be a step back
    parts_.from.settled({&at, 1});
    return;
  }
  reached_.insert_or_assign(batch.from.lane, std::move(at));
  unsettled_since_.push_back(batch.read_at);
}

void job::settle() {
  settled_at_ = std::chrono::steady_clock::now();
  if (reached_.empty()) return;
  std::vector<checkpoint> all;
  for (const auto& [name, at] : reached_) all.push_back(at);
  const std::size_t lanes = all.size();
  if (parts_.to != nullptr) {
    std::string note = parts_.to->commit(all);
    if (!note.empty()) all.push_back({options_.sink_name, 0, std::move(note)});
  }
  fault_point("committed");
  parts_.book.settle(all);
  fault_point("settled");
  all.resize(lanes);
  parts_.from.settled(all);
  fault_point("accounted");
  for (const checkpoint& each : all) lanes_[each.source] = {each.position, false};
  reached_.clear();
  const auto now = std::chrono::steady_clock::now();
  if (options_.settled)
    for (const auto since : unsettled_since_) options_.settled(now - since);
  unsettled_since_.clear();
}

void job::report() {
  if (!options_.progress) return;
  result_.lag = parts_.from.lag();
  options_.progress(result_);
}

}  // namespace everseen
