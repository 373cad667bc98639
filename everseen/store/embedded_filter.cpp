#include "everseen/store/embedded_filter.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "everseen/core/assert.hpp"

namespace everseen {

embedded_filter::embedded_filter(const spec& s, segments& place, std::vector<partition_state> states)
    : spec_(s), place_(place) {
  states.resize(s.partitions);
  partitions_.reserve(s.partitions);
  for (std::uint32_t p = 0; p < s.partitions; ++p)
    partitions_.push_back(std::make_unique<guarded>(spec_, p, place_, std::move(states[p])));
}

batch_result embedded_filter::add(std::span<const partition_batch> batches) {
  if (batches.empty()) return tally{};
  const std::size_t start = std::hash<std::thread::id>{}(std::this_thread::get_id()) % batches.size();
  tally done;
  std::optional<batch_failure> failure;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const partition_batch& batch = batches[(start + i) % batches.size()];
    guarded& target = *partitions_[batch.partition];
    const std::scoped_lock alone(target.lock);
    batch_result result = target.logic.add(batch);
    done += result ? *result : result.error().done;
    if (!result && (!failure || !failure->ends_batch())) failure = std::move(result.error());
  }
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(std::move(*failure));
}

batch_result embedded_filter::check(std::span<const partition_batch> batches) const {
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
      visit(id, slice.layers[layer], {place_.at(id), slice.layers[layer].shape.bytes});
    }
}

void embedded_filter::forget() {
  for (const auto& each : partitions_) {
    const std::scoped_lock alone(each->lock);
    each->logic.forget();
  }
}

}  // namespace everseen
