#include "everseen/filter/scatter.hpp"

#include <algorithm>

#include "everseen/core/base/assert.hpp"

namespace everseen {

std::span<const partition_batch> scatter::sort(std::span<const digest> digests,
                                               std::span<const event_time> times, std::uint32_t partitions,
                                               std::span<verdict> out,
                                               std::span<const std::string_view> keys) {
  EVERSEEN_ASSERT(out.size() == digests.size());
  EVERSEEN_ASSERT(times.size() <= 1 || times.size() == digests.size());
  EVERSEEN_ASSERT(keys.empty() || keys.size() == digests.size());
  out_ = out;
  batches_.clear();
  if (digests.empty()) return batches_;
  if (partitions == 1) {
    batches_.push_back({0, digests, times, out, keys});
    return batches_;
  }
  sort_many(digests, times, partitions, keys);
  return batches_;
}

void scatter::sort_many(std::span<const digest> digests, std::span<const event_time> times,
                        std::uint32_t partitions, std::span<const std::string_view> keys) {
  const std::size_t n = digests.size();
  const bool own_times = times.size() > 1;
  partition_of_.resize(n);
  digests_.resize(n);
  origin_.resize(n);
  verdicts_.resize(n);
  if (own_times) times_.resize(n);
  keys_.resize(keys.size());

  next_.assign(partitions + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t p = everseen::partition_of(digests[i], partitions);
    partition_of_[i] = static_cast<std::uint16_t>(p);
    ++next_[p + 1];
  }
  for (std::uint32_t p = 0; p < partitions; ++p) {
    const std::uint32_t from = next_[p];
    const std::uint32_t count = next_[p + 1];
    next_[p + 1] += from;
    if (count == 0) continue;
    batches_.push_back({p,
                        {digests_.data() + from, count},
                        own_times ? std::span<const event_time>(times_.data() + from, count) : times,
                        {verdicts_.data() + from, count},
                        keys.empty() ? keys : std::span<const std::string_view>(keys_).subspan(from, count)});
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t at = next_[partition_of_[i]]++;
    digests_[at] = digests[i];
    origin_[at] = static_cast<std::uint32_t>(i);
    if (own_times) times_[at] = times[i];
    if (!keys.empty()) keys_[at] = keys[i];
  }
}

void scatter::gather() noexcept {
  if (batches_.empty() || batches_.front().out.data() == out_.data()) return;  // judged in place
  for (std::size_t i = 0; i < out_.size(); ++i) out_[origin_[i]] = verdicts_[i];
}

}  // namespace everseen
