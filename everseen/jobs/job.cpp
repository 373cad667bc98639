#include "everseen/jobs/job.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/room.hpp"
#include "everseen/jobs/job_marks.hpp"

// Why no event is lost or takes effect twice: the drawing in job.hpp, and doc/streams.md, "Steps of a batch".
//
// - The sink's note (how long its file was) is stored with the positions of the sources, in one step, and
//   only if no other worker has moved these positions. So of two workers that have put the same records,
//   one settles them.
// - Each partition of Kafka has a queue of its own, each consumer of a Redis stream a lease. Both ensure
//   that a lane's events reach the ledger in ascending order, from one worker at a time. kafka_sink is the
//   only sink that must know its source: its transactions carry the offsets of the source's group.
// - The queue between the two threads is short, so a slow store slows reading.
// - fault_point() marks the steps. The crash matrix of the tests kills the process at each of them.
namespace everseen {

namespace {

/// How long a job's threads wait before they check whether it is to end.
constexpr std::chrono::milliseconds queue_wait{20};
/// How long the reading thread waits for room before it calls keep_alive().
constexpr std::chrono::milliseconds keep_alive_interval{200};

/// The first line of a table may be its header.
const char* header_hint(const bad_record& bad) {
  const bool is_delimited = !bad.field.empty() && !bad.field.starts_with('/');
  return bad.position == 0 && is_delimited ? "; or give --header, if that line names the fields" : "";
}

}  // namespace

job::job(job_parts parts, job_options options)
    : parts_(parts),
      options_(std::move(options)),
      reader_(options_.events, parts_.known_keys, options_.reading),
      queue_(options_.batches_ahead) {}
job::~job() = default;

void job::run() {
  begin();
  try {
    do {
      begin_reading();
      settle_all();
    } while (is_to_read_again());
    leave();
  } catch (...) {
    stop_reading();
    throw;
  }
  if (read_failure_) std::rethrow_exception(read_failure_);
}

void job::begin_reading() {
  has_lost_events_ = false;
  queue_.open();
  reading_ = std::jthread([this](const std::stop_token& ended) { read(ended); });
}

/// A lane that was lost after the source had ended may have come back to this worker since, and nobody else
/// reads its events. The source is asked again.
bool job::is_to_read_again() {
  if (stopping_) return false;
  end_reading();
  return has_lost_events_ && !stopping_ && !read_failure_;
}

void job::begin() {
  auto known = parts_.ledger.checkpoints();
  const auto mark = known.find(options_.sink_name);
  const bool goes_on = mark != known.end() && mark->second.position == options_.sink_order;
  const std::string last = goes_on ? mark->second.note : std::string();
  std::erase_if(known, [](const auto& each) { return !job_marks::is_of_a_lane(each.first); });
  for (const auto& [name, position] : known) lanes_[name].settled = position.position;
  parts_.from.begin(known);
  sink_is_new_ = !goes_on && !options_.sink_name.empty();
  if (parts_.target != nullptr) begin_sink(last);
  settled_at_ = std::chrono::steady_clock::now();
}

void job::begin_sink(const std::string& note) {
  parts_.target->begin(note);
  if (!note.empty()) return;
  sink_note_ = parts_.target->commit({});
  sink_is_new_ |= !sink_note_.empty();
}

void job::read(const std::stop_token& ended) {
  try {
    read_all();
    queue_.close();
    keep_alive(ended);
  } catch (...) {
    read_failure_ = std::current_exception();
  }
  queue_.close();
}

/// The last records are yet to be settled. A source that nobody asked meanwhile would lose its lanes.
void job::keep_alive(const std::stop_token& ended) {
  std::mutex alone;
  std::condition_variable_any pause;
  for (std::unique_lock lock(alone);;) {
    pause.wait_for(lock, ended, keep_alive_interval, [] { return false; });
    if (ended.stop_requested()) return;
    parts_.from.keep_alive();
  }
}

void job::stop_reading() {
  stopping_ = true;
  queue_.close();
  end_reading();
}

void job::end_reading() {
  reading_.request_stop();
  if (reading_.joinable()) reading_.join();
}

/// It waits for room before it reads: a batch in its hands would hold up the source, which hands over a lane
/// only when nothing of it is under way.
void job::read_all() {
  while (!stopping_) {
    if (!queue_.wait_for_room(keep_alive_interval)) {
      parts_.from.keep_alive();
      continue;
    }
    source_batch records;
    const source::state got = parts_.from.next(records, queue_wait);
    if (got == source::state::ended) return;
    if (got == source::state::nothing_yet) continue;
    event_batch batch = reader_.read(std::move(records));
    fault_point("read");
    const bool last = batch.stops_at.has_value();
    queue_.push(std::move(batch));
    if (last) return;
  }
}

void job::settle_all() {
  try {
    while (settle_next()) continue;
  } catch (const backend_error&) {
    end_after_failure(if_unavailable::fail);
    throw;
  } catch (...) {
    end_after_failure(if_unavailable::later);
    throw;
  }
  settle(if_unavailable::fail);
}

/// Settles what was put out before a failure. If that is impossible now, the next run gets the same
/// verdicts. If the sink failed halfway, nothing is settled: the sink may have more than `reached_` says,
/// and would keep it. The caller gets the original failure.
/// @param then  fail: a server is unavailable, and is not to be waited for again during an orderly exit
void job::end_after_failure(if_unavailable then) {
  try {
    if (sink_is_whole_) settle(if_unavailable::fail);
    if (then == if_unavailable::fail) return;
    leave();
  } catch (const error&) {
  }
}

/// @return false  the job is to end
bool job::settle_next() {
  auto batch = queue_.pop(queue_wait);
  if (batch) {
    if (!process_batch(*batch)) return false;
    if (batch->stops_at) {
      settle(if_unavailable::fail);
      throw format_error(parts_.from.place_of(batch->from.lane, batch->stops_at->position) + ' ' +
                         to_string(*batch->stops_at) +
                         "; --bad-events skip skips such records, --bad-events FILE keeps them there" +
                         header_hint(*batch->stops_at));
    }
  } else if (queue_.has_ended()) {
    return false;
  }
  if (std::chrono::steady_clock::now() >= settled_at_ + options_.settle_every ||
      unsettled_events_ >= options_.most_unsettled || is_waited_for() || (!batch && has_ended_lane_))
    settle(if_unavailable::later);
  report();
  return true;
}

/// Whether another worker gets a lane once the put records of that lane are settled.
bool job::is_waited_for() const {
  return std::ranges::any_of(reached_, [this](const auto& each) {
    return parts_.from.ownership_of(each.first, lanes_.at(each.first).generation) ==
           source::ownership::leaving;
  });
}

/// Leaves batches that were read and not claimed to the next run. They must not be claimed after an abandoned
/// batch: the ledger considers every event before a judged one judged.
void job::leave() {
  stopping_ = true;
  while (!queue_.has_ended())
    if (const auto batch = queue_.pop(queue_wait)) parts_.from.abandoned(batch->from);
  stop_reading();
  parts_.from.finish();
}

void job::report() {
  if (!options_.progress) return;
  result_.lag = parts_.from.lag();
  options_.progress(result_);
}

/// The steps of a batch up to its output.

/// @return false  the batch was abandoned, and the job is to end
bool job::process_batch(event_batch& batch) {
  if (parts_.from.ownership_of(batch.from.lane, batch.from.generation) != source::ownership::ours) {
    parts_.from.abandoned(batch.from);
    batch.stops_at.reset();  // that is its next reader's
    has_lost_events_ = true;
    return true;
  }
  pass_over_settled(batch);
  const bool moves_its_lane = !batch.stops_at && batch.from.next > lanes_[batch.from.lane].settled;
  if (!batch.positions.empty() || !batch.bad.empty() || moves_its_lane) register_with_job();
  auto failure = claim(batch);
  const bool full = failure && failure->why == batch_failure::cause::full;
  if (failure && !full) {
    const bool away = failure->why == batch_failure::cause::backend;
    if (!away || !stopping_) failure->raise();
    parts_.from.abandoned(batch.from);
    return false;
  }
  if (full) {  // all before the first event without room is complete
    name_remedy(*failure, parts_.known_keys, adder::job);
    const auto first = std::ranges::find(verdicts_, verdict::unknown);
    failure->message +=
        "; " +
        parts_.from.place_of(batch.from.lane,
                             batch.positions[static_cast<std::size_t>(first - verdicts_.begin())]) +
        " is the first event without room, and no more input was read";
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

/// Records which sink is used, and where it begins, before anything is put out: the next run needs that to
/// take records back. It does so only with the first batch, because a run that claims nothing must leave
/// nothing behind. So it first checks again that this run matches what other workers recorded in the
/// meantime.
void job::register_with_job() {
  if (is_registered_) return;
  try {
    if (options_.examine) options_.examine();
    if (sink_is_new_) static_cast<void>(settle_in_ledger({}));  // contains no lane, so nothing refuses it
    is_registered_ = true;
  } catch (const backend_error&) {
    if (options_.on_outage != job_options::outage::pass) throw;
  }
}

/// Records put in an earlier generation are settled, or taken back, before this generation puts any.
void job::begin_generation(const source_batch& batch) {
  if (reached_.contains(batch.lane)) settle(if_unavailable::later);
  lane& entry = lanes_[batch.lane];
  entry.generation = batch.generation;
  entry.looked_up = false;
}

/// Skips what another worker has settled and what this one has already put out: a lane that begins again is
/// read from its settled position, which may be far back.
void job::pass_over_settled(event_batch& batch) {
  if (batch.from.begins) begin_generation(batch.from);
  static_cast<void>(look_up(batch.from.lane));
  const lane& known = lanes_[batch.from.lane];
  batch.drop_before(std::max(known.settled, known.put));
}

/// @return false  the store is unavailable, and the job continues without it
bool job::look_up(const std::string& name) {
  lane& entry = lanes_[name];
  if (entry.looked_up) return true;
  try {
    const auto known = parts_.ledger.checkpoints();
    if (const auto found = known.find(name); found != known.end()) {
      parts_.from.must_be_of(found->second);
      // If records are already put, settling detects this, and the sink takes back the excess.
      if (!reached_.contains(name)) entry.settled = std::max(entry.settled, found->second.position);
    } else {
      doubt(name);
    }
  } catch (const backend_error&) {
    if (options_.on_outage != job_options::outage::pass) throw;
    entry.passed = true;
    if (!result_.passed) result_.passed = batch_failure::from_current_exception();
    return false;
  }
  return entry.looked_up = true;
}

/// Once a job: the reason is the same for each lane.
void job::doubt(const std::string& name) {
  if (warned_ || !options_.warn) return;
  const std::string why = parts_.from.warning_about(name);
  if (why.empty()) return;
  warned_ = true;
  options_.warn(why);
}

/// @return why the job is to end
std::optional<batch_failure> job::claim(const event_batch& batch) {
  const std::size_t count = batch.positions.size();
  verdicts_.assign(count, verdict::unknown);
  claimed_before_.assign(count, 0);
  if (count == 0) return {};
  if (auto first = parts_.from.known_before(batch.from)) {
    reached_.insert_or_assign(batch.from.lane, *std::move(first));
    lanes_[batch.from.lane].passed = true;
  }
  if (!may_claim(batch.from.lane)) return {};
  const std::size_t per_event = options_.events.counts.size();
  const auto batches = sorted_.sort(
      {batch.digests, batch.positions, batch.times, {batch.names.all(), batch.of_event, per_event}},
      parts_.known_keys.get_spec().partitions);
  const auto judged = parts_.ledger.claim({batch.from.lane, lanes_[batch.from.lane].settled}, batches);
  sorted_.gather(verdicts_, claimed_before_);
  if (judged) return {};
  const bool away = judged.error().why == batch_failure::cause::backend;
  if (!away || options_.on_outage != job_options::outage::pass) return judged.error();
  lanes_[batch.from.lane].passed = true;
  if (!result_.passed) result_.passed = judged.error();
  return {};
}

/// Events that were put out without a verdict must be settled before anything after them is claimed:
/// otherwise a replay would get `seen` for them. The same holds for what the source must record of a batch
/// before it is claimed.
bool job::may_claim(const std::string& name) {
  const lane& entry = lanes_[name];
  return (!entry.passed || settle(if_unavailable::later)) && entry.looked_up;
}

/// Side outputs come first: they are at least once in any case, and if one fails, the sink has nothing yet
/// to take back.
void job::put(const event_batch& batch) {
  write_aside(batch);
  if (parts_.target == nullptr) return;
  sink_is_whole_ = false;
  parts_.target->put({batch.from, verdicts_, claimed_before_});
}

void job::write_aside(const event_batch& batch) {
  const auto write = [&](output* target, verdict wanted) {
    if (target == nullptr) return;
    std::string text;
    for (std::size_t i = 0; i < verdicts_.size(); ++i)
      if (verdicts_[i] == wanted) (text += batch.from.records[i].bytes) += options_.separator;
    if (!text.empty()) target->write(text);
  };
  write(options_.seen_to, verdict::seen);
  write(options_.late_to, verdict::late);
  if (options_.bad_to == nullptr || batch.bad.empty()) return;
  std::string text;
  for (const bad_record& bad : batch.bad) (text += bad.bytes) += options_.separator;
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
  if (result_.bad == 0 && !batch.bad.empty()) result_.first_bad = to_string(batch.bad.front());
  result_.bad += batch.bad.size();
  result_.replayed +=
      static_cast<std::uint64_t>(std::count(claimed_before_.begin(), claimed_before_.end(), 1));
  result_.bytes += batch.bytes;
  if (!batch.absent.empty()) result_.absent = batch.absent;
  if (batch.newest) result_.newest = std::max(result_.newest.value_or(*batch.newest), *batch.newest);
  sink_is_whole_ = true;
  lane& entry = lanes_[batch.from.lane];
  entry.put = std::max(entry.put, batch.from.next);
  has_ended_lane_ |= batch.from.ends;
  if (batch.stops_at && batch.positions.empty() && batch.bad.empty()) return;  // nothing was claimed
  checkpoint reached = parts_.from.reached(batch.from);
  if (reached.position <= entry.settled) {  // skipped: writing it would move the position back
    parts_.from.settled({&reached, 1});
    return;
  }
  checkpoint& furthest = reached_[reached.lane];  // a batch that was read again may end before it
  if (furthest.position <= reached.position) furthest = std::move(reached);
  unsettled_since_.push_back(batch.read_at);
  unsettled_events_ += batch.positions.size();
}

}  // namespace everseen
