#include <algorithm>
#include <chrono>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/filter/room.hpp"
#include "everseen/jobs/job.hpp"

/// The steps of a batch up to its output.
namespace everseen {

/// @return false  the batch was abandoned, and the job is to end
bool job::deal_with(event_batch& batch) {
  if (parts_.from.ownership_of(batch.from.lane, batch.from.generation) != source::ownership::ours) {
    parts_.from.abandoned(batch.from);
    return true;
  }
  pass_over_settled(batch);
  const bool moves_its_lane = !batch.stops_at && batch.from.next > lanes_[batch.from.lane].settled;
  if (!batch.positions.empty() || !batch.bad.empty() || moves_its_lane) take_part();
  auto failure = claim(batch);
  const bool full = failure && failure->why == batch_failure::cause::full;
  if (failure && !full) {
    const bool away = failure->why == batch_failure::cause::backend;
    if (!away || !stopping_) failure->raise();
    parts_.from.abandoned(batch.from);
    return false;
  }
  if (full) {  // all before the first event without room is complete
    name_remedy(*failure, parts_.seen, adder::job);
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
void job::take_part() {
  if (takes_part_) return;
  try {
    if (options_.examine) options_.examine();
    if (sink_is_new_) static_cast<void>(put_down({}));  // contains no lane, so nothing refuses it
    takes_part_ = true;
  } catch (const backend_error&) {
    if (options_.on_outage != job_options::outage::pass) throw;
  }
}

/// Records put in an earlier generation are settled, or taken back, before this generation puts any.
void job::begin_turn(const source_batch& batch) {
  if (reached_.contains(batch.lane)) settle(if_unavailable::later);
  lane& entry = lanes_[batch.lane];
  entry.generation = batch.generation;
  entry.looked_up = false;
}

/// Skips what another worker has settled and what this one has already put out: a lane that begins again is
/// read from its settled position, which may be far back.
void job::pass_over_settled(event_batch& batch) {
  if (batch.from.begins) begin_turn(batch.from);
  static_cast<void>(look_up(batch.from.lane));
  const lane& known = lanes_[batch.from.lane];
  batch.drop_before(std::max(known.settled, known.put));
}

/// @return false  the store is unavailable, and the job continues without it
bool job::look_up(const std::string& name) {
  lane& entry = lanes_[name];
  if (entry.looked_up) return true;
  try {
    const auto known = parts_.book.checkpoints();
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
  checkpoint& furthest = reached_[reached.source];  // a batch that was read again may end before it
  if (furthest.position <= reached.position) furthest = std::move(reached);
  unsettled_since_.push_back(batch.read_at);
  unsettled_events_ += batch.positions.size();
}

}  // namespace everseen
