#include <algorithm>
#include <chrono>
#include <utility>

#include "everseen/core/error.hpp"
#include "everseen/stream/fault_point.hpp"
#include "everseen/stream/job.hpp"

/// The steps that a batch goes through until it is put out.
namespace everseen {

/// @return false  it was given up, and with it the job
bool job::deal_with(event_batch& batch) {
  if (parts_.from.tenure_of(batch.from.lane, batch.from.turn) != source::tenure::ours) {
    parts_.from.abandoned(batch.from);
    return true;
  }
  pass_over_settled(batch);
  if (!batch.positions.empty() || !batch.bad.empty()) take_part();
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

/// Which sink it is, and where it begins, is put down before anything is put out, so that the next run can
/// take that back, and finds that there is a place; and not before anything comes, as a run that takes
/// nothing is to leave nothing behind. So whoever waited for its first event looks once more whether it fits
/// what others put down meanwhile.
void job::take_part() {
  if (takes_part_) return;
  try {
    if (options_.examine) options_.examine();
    if (sink_is_new_) static_cast<void>(put_down({}));  // no lane is in it, so nothing refuses it
    takes_part_ = true;
  } catch (const backend_error&) {
    if (options_.on_outage != job_options::outage::pass) throw;
  }
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
      // Where something is put already, settling finds out, and has the sink take back what is too much.
      if (!reached_.contains(name)) of.settled = std::max(of.settled, found->second.position);
    } else {
      doubt(name);
    }
  } catch (const backend_error&) {
    if (options_.on_outage != job_options::outage::pass) throw;
    of.passed = true;
    if (!result_.passed) result_.passed = batch_failure::from_current_exception();
    return false;
  }
  return of.looked_up = true;
}

/// Once a job: it has the same of each lane.
void job::doubt(const std::string& name) {
  if (warned_ || !options_.warn) return;
  const std::string why = parts_.from.doubt_about(name);
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

/// What was passed by must be settled before anything behind it is claimed: once that is, a replay would be
/// told `seen` of it. What the source must know of a batch before it is claimed is put down in the same way.
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
  if (!batch.absent.empty()) result_.absent = batch.absent;
  if (batch.newest) result_.newest = std::max(result_.newest.value_or(*batch.newest), *batch.newest);
  sink_is_whole_ = true;
  lane& of = lanes_[batch.from.lane];
  of.put = std::max(of.put, batch.from.next);
  if (batch.stops_at && batch.positions.empty() && batch.bad.empty()) return;  // nothing was taken
  checkpoint at = parts_.from.reached(batch.from);
  if (at.position <= of.settled) {  // passed over: to put it down would be a step back
    parts_.from.settled({&at, 1});
    return;
  }
  checkpoint& furthest = reached_[at.source];  // what was read again may end before it
  if (furthest.position <= at.position) furthest = std::move(at);
  unsettled_since_.push_back(batch.read_at);
  unsettled_events_ += batch.positions.size();
}

}  // namespace everseen
