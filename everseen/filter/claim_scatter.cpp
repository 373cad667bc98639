#include "everseen/filter/claim_scatter.hpp"

#include <algorithm>

#include "everseen/core/layout/layout.hpp"

namespace everseen {

std::span<const claim_batch> claim_scatter::sort(const events& all, std::uint32_t partitions) {
  const std::size_t n = all.digests.size();
  const std::size_t each = all.counts.per_event;
  const bool timed = all.times.size() > 1;
  partition_of_.resize(n);
  next_.assign(partitions + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    partition_of_[i] = partition_of(all.digests[i], partitions);
    ++next_[partition_of_[i] + 1];
  }
  for (std::uint32_t p = 0; p < partitions; ++p) next_[p + 1] += next_[p];
  const std::vector<std::uint32_t> begins = next_;
  origin_.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) origin_[next_[partition_of_[i]]++] = i;

  digests_.resize(n);
  positions_.resize(n);
  times_.resize(timed ? n : 0);
  counters_.resize(n * each);
  verdicts_.resize(n);
  before_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = origin_[i];
    digests_[i] = all.digests[from];
    positions_[i] = all.positions[from];
    if (timed) times_[i] = all.times[from];
    std::copy_n(all.counts.of_event.begin() + static_cast<std::ptrdiff_t>(from * each), each,
                counters_.begin() + static_cast<std::ptrdiff_t>(i * each));
  }
  batches_.clear();
  for (std::uint32_t p = 0; p < partitions; ++p) {
    const std::size_t begin = begins[p];
    const std::size_t size = begins[p + 1] - begin;
    if (size == 0) continue;
    const auto share = [&](auto& source) { return std::span(source).subspan(begin, size); };
    batches_.push_back({{p, share(digests_), timed ? share(times_) : all.times, share(verdicts_)},
                        share(positions_),
                        {all.counts.names, std::span(counters_).subspan(begin * each, size * each), each},
                        share(before_)});
  }
  return batches_;
}

void claim_scatter::gather(std::span<verdict> verdicts, std::span<std::uint8_t> claimed_before) const {
  for (std::size_t i = 0; i < origin_.size(); ++i) {
    verdicts[origin_[i]] = verdicts_[i];
    claimed_before[origin_[i]] = before_[i];
  }
}

}  // namespace everseen
