#include "everseen/filter/claim_scatter.hpp"

#include <algorithm>

#include "everseen/core/assert.hpp"

namespace everseen {

std::span<const claim_batch> claim_scatter::sort(const unsorted_claim& events, std::uint32_t partitions) {
  const std::size_t n = events.digests.size();
  EVERSEEN_ASSERT(events.positions.size() == n);
  EVERSEEN_ASSERT(events.counts.of_event.size() == n * events.counts.per_event);
  verdicts_.resize(n);
  claimed_before_.assign(n, 0);
  batches_.clear();
  const auto sorted = keys_.sort(events.digests, events.times, partitions, verdicts_);
  for (const partition_batch& each : sorted) std::fill(each.out.begin(), each.out.end(), verdict::unknown);
  move(events);
  const std::size_t width = events.counts.per_event;
  const std::span<const std::uint64_t> positions =
      keys_.origins().empty() ? events.positions : std::span<const std::uint64_t>(positions_);
  const std::span<const std::uint32_t> of_event =
      keys_.origins().empty() ? events.counts.of_event : std::span<const std::uint32_t>(of_event_);
  std::size_t from = 0;
  for (const partition_batch& each : sorted) {
    const std::size_t count = each.out.size();
    batches_.push_back({each,
                        positions.subspan(from, count),
                        {events.counts.names, of_event.subspan(from * width, count * width), width},
                        std::span(claimed_before_).subspan(from, count)});
    from += count;
  }
  return batches_;
}

void claim_scatter::move(const unsorted_claim& events) {
  const auto origins = keys_.origins();
  const std::size_t width = events.counts.per_event;
  positions_.resize(origins.size());
  of_event_.resize(origins.size() * width);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    positions_[i] = events.positions[origins[i]];
    std::copy_n(events.counts.of_event.begin() + static_cast<std::ptrdiff_t>(origins[i] * width), width,
                of_event_.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
}

void claim_scatter::gather(std::span<verdict> verdicts,
                           std::span<std::uint8_t> claimed_before) const noexcept {
  std::size_t sorted = 0;
  for (const claim_batch& batch : batches_)
    for (std::size_t i = 0; i < batch.positions.size(); ++i, ++sorted) {
      const std::size_t at = keys_.origins().empty() ? sorted : keys_.origins()[sorted];
      verdicts[at] = batch.keys.out[i];
      claimed_before[at] = batch.claimed_before[i];
    }
}

}  // namespace everseen
