#include "everseen/filter/scatter.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/assert.hpp"

namespace everseen {

void scatter::lane::grow() {
  const std::size_t larger = std::max<std::size_t>(8, 2 * room);
  auto more_digests = std::make_unique_for_overwrite<digest[]>(larger);
  auto more_origin = std::make_unique_for_overwrite<std::uint32_t[]>(larger);
  std::copy_n(digests.get(), room, more_digests.get());
  std::copy_n(origin.get(), room, more_origin.get());
  digests = std::move(more_digests);
  origin = std::move(more_origin);
  room = larger;
}

void scatter::begin(std::uint32_t partitions) {
  if (lanes_.size() < partitions) lanes_.resize(partitions);
  sizes_.assign(partitions, 0);
  size_ = 0;
  if (!std::exchange(has_more_, false)) return;
  for (lane& l : lanes_) {
    l.times.clear();
    l.keys.clear();
  }
}

void scatter::put(std::span<const digest> digests, std::span<const event_time> times,
                  std::span<const std::string_view> keys) {
  EVERSEEN_ASSERT(times.empty() || times.size() == digests.size());
  EVERSEEN_ASSERT(keys.empty() || keys.size() == digests.size());
  const auto partitions = static_cast<std::uint32_t>(sizes_.size());
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const std::uint32_t p = partition_of(digests[i], partitions);
    lane& l = lanes_[p];
    if (sizes_[p] == l.room) l.grow();
    l.digests[sizes_[p]] = digests[i];
    l.origin[sizes_[p]++] = static_cast<std::uint32_t>(size_ + i);
  }
  has_more_ = has_more_ || !times.empty() || !keys.empty();
  for (std::size_t i = 0; i < times.size(); ++i)
    lanes_[partition_of(digests[i], partitions)].times.push_back(times[i]);
  for (std::size_t i = 0; i < keys.size(); ++i)
    lanes_[partition_of(digests[i], partitions)].keys.push_back(keys[i]);
  size_ += digests.size();
}

std::span<const partition_batch> scatter::finish(std::span<verdict> out,
                                                 std::span<const event_time> time_of_all) {
  EVERSEEN_ASSERT(out.size() == size_);
  EVERSEEN_ASSERT(time_of_all.size() <= 1);
  out_ = out;
  batches_.clear();
  verdicts_.resize(size_);
  std::size_t before = 0;
  for (std::uint32_t p = 0; p < sizes_.size(); ++p) {
    const std::size_t size = sizes_[p];
    if (size == 0) continue;
    const lane& l = lanes_[p];
    batches_.push_back({p,
                        {l.digests.get(), size},
                        l.times.empty() ? time_of_all : l.times,
                        std::span(verdicts_).subspan(before, size),
                        l.keys});
    before += size;
  }
  return batches_;
}

std::span<const partition_batch> scatter::sort(std::span<const digest> digests,
                                               std::span<const event_time> times, std::uint32_t partitions,
                                               std::span<verdict> out,
                                               std::span<const std::string_view> keys) {
  EVERSEEN_ASSERT(out.size() == digests.size());
  if (partitions > 1) {
    const bool one_for_all = times.size() == 1;
    begin(partitions);
    put(digests, one_for_all ? std::span<const event_time>{} : times, keys);
    return finish(out, one_for_all ? times : std::span<const event_time>{});
  }
  out_ = out;
  batches_.clear();
  if (!digests.empty()) batches_.push_back({0, digests, times, out, keys});
  return batches_;
}

void scatter::gather() noexcept {
  if (batches_.empty() || batches_.front().out.data() == out_.data()) return;  // judged in place
  for (const partition_batch& batch : batches_) {
    const std::uint32_t* const origin = lanes_[batch.partition].origin.get();
    for (std::size_t i = 0; i < batch.out.size(); ++i) out_[origin[i]] = batch.out[i];
  }
}

}  // namespace everseen
