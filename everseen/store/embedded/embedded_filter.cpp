#include "everseen/store/embedded/embedded_filter.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/partition/prediction.hpp"
#include "everseen/store/embedded/embedded_ledger.hpp"
#include "everseen/store/port/batch_results.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

namespace {

constexpr const char* over = "the filter has expired; create another one";

}  // namespace

embedded_filter::embedded_filter(const spec& s, segments& place, std::vector<partition_state> states,
                                 time_source clock, std::optional<event_time> end)
    : spec_(s), segments_(place), life_(std::move(clock), end) {
  states.resize(s.partitions);
  partitions_.reserve(s.partitions);
  for (std::uint32_t p = 0; p < s.partitions; ++p)
    partitions_.push_back(std::make_unique<guarded>(spec_, p, segments_, std::move(states[p])));
}

void embedded_filter::limited_segments::create(const segment_id& id, const geometry& shape,
                                               std::uint64_t capacity) {
  segment_room* const room = room_;
  if (room != nullptr) room->take(shape.bytes);
  try {
    place_.create(id, shape, capacity);
  } catch (...) {
    if (room != nullptr) room->give_back(shape.bytes);
    throw;
  }
}

batch_result embedded_filter::add(std::span<const partition_batch> batches) {
  if (batches.empty()) return tally{};
  if (life_.has_expired()) return unanswered(batches, batch_failure::cause::storage, over);
  const std::size_t start = std::hash<std::thread::id>{}(std::this_thread::get_id()) % batches.size();
  tally done;
  std::optional<batch_failure> failure;
  const auto add_to = [&](guarded& target, const partition_batch& batch) {
    batch_result result = target.logic.add(batch);
    done += result ? *result : result.error().done;
    if (!result && (!failure || !failure->ends_batch())) failure = std::move(result.error());
  };
  // Waiting for a lock means sleeping, usually longer than the lock is held, so free partitions come first.
  std::vector<const partition_batch*> left;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const partition_batch& batch = batches[(start + i) % batches.size()];
    guarded& target = *partitions_[batch.partition];
    if (const std::unique_lock alone(target.lock, std::try_to_lock); alone)
      add_to(target, batch);
    else
      left.push_back(&batch);
  }
  for (const partition_batch* batch : left) {
    guarded& target = *partitions_[batch->partition];
    const std::scoped_lock alone(target.lock);
    add_to(target, *batch);
  }
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(std::move(*failure));
}

/// Holds the locks of all its partitions from the first verdict to the last key.
batch_result embedded_filter::add_after(std::span<const partition_batch> batches,
                                        const std::function<bool()>& effect) {
  if (life_.has_expired()) return unanswered(batches, batch_failure::cause::storage, over);
  std::vector<const partition_batch*> ordered;  // two calls must not wait for each other
  for (const partition_batch& batch : batches) ordered.push_back(&batch);
  std::ranges::sort(ordered, {}, [](const partition_batch* batch) { return batch->partition; });
  std::vector<std::unique_lock<std::shared_mutex>> locks;
  std::vector<std::optional<journal_record>> records;
  std::optional<batch_failure> failure;
  predictor verdicts;
  for (const partition_batch* batch : ordered) {
    guarded& target = *partitions_[batch->partition];
    locks.emplace_back(target.lock);
    prediction predicted = verdicts.predict_whole(target.logic, spec_, *batch);
    journal_record record = record_of(predicted, target.logic.state(), spec_, *batch);
    const bool changes = !record.keys.empty() || predicted.moves_to;
    records.push_back(changes ? std::optional(std::move(record)) : std::nullopt);
    if (predicted.full && !failure) failure = std::move(predicted.full);
  }
  if (!effect()) return answered(batches, std::move(failure));
  try {
    for (std::size_t i = 0; i < ordered.size(); ++i)
      if (records[i]) partitions_[ordered[i]->partition]->logic.apply(*records[i]);
  } catch (const error&) {
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

batch_result embedded_filter::check(std::span<const partition_batch> batches) const {
  if (life_.has_expired()) return unanswered(batches, batch_failure::cause::storage, over);
  tally done;
  for (const partition_batch& batch : batches) {
    const guarded& target = *partitions_[batch.partition];
    const std::shared_lock beside_others(target.lock);
    done += target.logic.check(batch);
  }
  return done;
}

partition_state embedded_filter::state(std::uint32_t partition) const {
  EVERSEEN_ASSERT(partition < partitions_.size());
  const guarded& target = *partitions_[partition];
  const std::shared_lock beside_others(target.lock);
  return target.logic.state();
}

void embedded_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  EVERSEEN_ASSERT(partition < partitions_.size());
  const guarded& target = *partitions_[partition];
  const std::shared_lock beside_others(target.lock);
  for (const slice_state& slice : target.logic.state().slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
      const segment_id id = {partition, slice.index, layer};
      visit(id, slice.layers[layer], {segments_.at(id), slice.layers[layer].shape.bytes});
    }
}

void embedded_filter::must_fit(const sibling_source& siblings) const {
  if (life_.has_expired()) throw filter_expired(over);
  for (std::uint32_t p = 0; p < partitions_.size(); ++p)
    siblings(p, [&target = *partitions_[p]](std::span<const sibling_segment> theirs) {
      const std::shared_lock beside_others(target.lock);
      target.logic.must_fit(theirs);
    });
}

void embedded_filter::merge(const sibling_source& siblings) {
  if (life_.has_expired()) throw filter_expired(over);
  for (std::uint32_t p = 0; p < partitions_.size(); ++p)
    siblings(p, [&target = *partitions_[p]](std::span<const sibling_segment> theirs) {
      const std::scoped_lock alone(target.lock);
      target.logic.must_fit(theirs);
      target.logic.merge(theirs);
    });
}

std::unique_ptr<ledger> embedded_filter::open_ledger(std::string_view job,
                                                     std::optional<std::string_view> description) {
  validate_job_name(job);
  const std::scoped_lock alone(jobs_lock_);
  auto found = jobs_.find(job);
  if (found == jobs_.end() && !description) return nullptr;
  if (found == jobs_.end()) found = jobs_.emplace(std::string(job), make_job(job, *description)).first;
  return std::make_unique<embedded_ledger>(*this, found->second);
}

std::vector<std::string> embedded_filter::jobs() const {
  const std::scoped_lock alone(jobs_lock_);
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) names.push_back(name);
  return names;
}

bool embedded_filter::end_job(std::string_view job) {
  const std::scoped_lock alone(jobs_lock_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return false;
  const std::shared_ptr<job_memory> ended = found->second;
  const std::scoped_lock in_order(ended->lock);
  forget_job(job);
  ended->remove_stored();
  jobs_.erase(found);
  return true;
}

void embedded_filter::sync_jobs() {
  std::vector<std::shared_ptr<job_memory>> all;
  {
    const std::scoped_lock alone(jobs_lock_);
    for (const auto& [name, job] : jobs_) all.push_back(job);
  }
  std::exception_ptr first;
  for (const auto& job : all) {
    try {
      job->sync();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void embedded_filter::adopt_job(std::string name, std::shared_ptr<job_memory> job) {
  jobs_.insert_or_assign(std::move(name), std::move(job));
}

std::shared_ptr<job_memory> embedded_filter::make_job(std::string_view /*name*/,
                                                      std::string_view description) {
  return std::make_shared<job_memory>(std::string(description));
}

batch_result embedded_filter::claim(job_memory& job, const lane_progress& from,
                                    std::span<const claim_batch> batches) {
  std::optional<batch_failure> failure;
  if (life_.has_expired())
    return claims_result(batches, batch_failure{batch_failure::cause::storage, over, {}});
  for (const claim_batch& batch : batches) {
    guarded& target = *partitions_[batch.keys.partition];
    const std::scoped_lock alone(target.lock);
    auto one = claim_in(target.logic, job, from, batch);
    if (one && (!failure || !failure->ends_batch())) failure = std::move(one);
  }
  return claims_result(batches, std::move(failure));
}

/// A recorded step counts as done. Its keys are added again on each replay, since a process may have crashed
/// between recording and adding.
std::optional<batch_failure> embedded_filter::claim_in(partition& logic, job_memory& job,
                                                       const lane_progress& from, claim_batch batch) {
  const claim_batch all = batch;
  lane_record& record = job.lane(from.lane, spec_.partitions)[batch.keys.partition];
  answer_replays(batch, record, [&](event_time t) {
    const auto& slices = logic.state().slices;
    return spec_.window && !slices.empty() &&
           window::slice_at(*spec_.window, t) < window::oldest_live(*spec_.window, slices.back().index);
  });
  const std::size_t replayed = all.positions.size() - batch.positions.size();
  if (auto failure = apply_claim(logic, all, replayed, space::may_lack)) {
    std::ranges::fill(batch.keys.out, verdict::unknown);
    return failure;
  }
  predictor verdicts;
  while (!batch.positions.empty()) {
    prediction reach = verdicts.predict(logic, spec_, batch.keys, predictor::no_room::ends);
    if (auto failure = record_step(job, record, from, batch, reach.judged)) return failure;
    if (auto failure = apply_claim(logic, batch, reach.judged, space::is_known)) return failure;
    if (reach.full) return std::move(reach.full);
    batch = rest_of(batch, reach.judged);
  }
  return {};
}

/// Records the verdicts of the first events in the job; on failure the batch has no answers.
std::optional<batch_failure> embedded_filter::record_step(job_memory& job, lane_record& record,
                                                          const lane_progress& from, const claim_batch& batch,
                                                          std::size_t events) {
  if (events == 0) return {};
  const job_memory::step step = {batch.keys.partition,
                                 from.lane,
                                 from.settled,
                                 batch.positions.first(events),
                                 batch.keys.out.first(events),
                                 batch.keys.digests.first(events),
                                 batch.keys.times};
  try {
    job.note_step(step);
  } catch (const error&) {
    std::ranges::fill(batch.keys.out, verdict::unknown);
    return batch_failure::from_current_exception();
  }
  take_step(record, step);
  return {};
}

/// Applies the first events to the partition: fresh events add their keys, all events move the window.
std::optional<batch_failure> embedded_filter::apply_claim(partition& logic, const claim_batch& batch,
                                                          std::size_t events, space left) {
  if (auto failure = add_fresh(logic, batch, events, left)) return failure;
  if (!spec_.window) return {};
  for (std::size_t i = 0; i < events; ++i) {
    if (batch.keys.out[i] != verdict::seen) continue;
    try {
      logic.move_window(batch.keys.times[batch.keys.times.size() == 1 ? 0 : i]);
    } catch (const error&) {
      std::fill(batch.keys.out.begin() + static_cast<std::ptrdiff_t>(i), batch.keys.out.end(),
                verdict::unknown);
      return batch_failure::from_current_exception();
    }
  }
  return {};
}

/// Adds the keys of the fresh ones among the first events. On failure, all events from the first unadded one
/// on have no answer, although they are recorded; a replay answers them.
std::optional<batch_failure> embedded_filter::add_fresh(partition& logic, const claim_batch& batch,
                                                        std::size_t events, space left) {
  std::vector<digest> digests;
  std::vector<event_time> times;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < events; ++i) {
    if (batch.keys.out[i] != verdict::fresh) continue;
    digests.push_back(batch.keys.digests[i]);
    if (spec_.window) times.push_back(batch.keys.times[batch.keys.times.size() == 1 ? 0 : i]);
    places.push_back(i);
  }
  std::vector<verdict> ignored(digests.size());
  const batch_result added = logic.add({batch.keys.partition, digests, times, ignored});
  if (added || (left == space::may_lack && added.error().why == batch_failure::cause::full)) return {};
  const auto first = std::ranges::find(ignored, verdict::unknown);
  if (first == ignored.end()) return added.error();
  const std::size_t from = places[static_cast<std::size_t>(first - ignored.begin())];
  std::fill(batch.keys.out.begin() + static_cast<std::ptrdiff_t>(from), batch.keys.out.end(),
            verdict::unknown);
  return added.error();
}

void embedded_filter::expire_at(std::optional<event_time> when) {
  if (life_.has_expired()) throw filter_expired(over);
  const std::scoped_lock alone(jobs_lock_);
  keep_expiry(when);
  life_.set(when);
}

void embedded_filter::forget() {
  for (const auto& each : partitions_) {
    const std::scoped_lock alone(each->lock);
    each->logic.forget();
  }
}

}  // namespace everseen
