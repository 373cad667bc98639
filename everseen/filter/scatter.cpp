#include "everseen/filter/scatter.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen {

void scatter::grow(lane& full, std::size_t wanted) {
  const std::size_t larger = std::max({least_room, 2 * full.room, wanted});
  auto digests = std::make_unique_for_overwrite<digest[]>(larger);
  auto origin = std::make_unique_for_overwrite<std::uint32_t[]>(larger);
  std::copy_n(full.digests.get(), full.room, digests.get());
  std::copy_n(full.origin.get(), full.room, origin.get());
  room_ += larger - full.room;
  full = {larger, std::move(digests), std::move(origin)};
}

// Where runs of one key fill one lane after the other, each would keep room for a whole batch.
void scatter::begin(std::uint32_t partitions) {
  constexpr std::size_t small_batch = 16'384;
  if (room_ > 4 * std::max({size_, 4 * sizes_.size(), small_batch})) {
    lanes_.clear();
    room_ = 0;
  }
  if (lanes_.size() < partitions) lanes_.resize(partitions);
  sizes_.assign(partitions, 0);
  size_ = 0;
  batches_.clear();
  out_ = {};
}

// One pass: a digest goes to the lane of its partition with its place in the batch, by which gather() brings
// the verdict back. Keys keep their order within a partition, so the first of two equal keys is judged first.
void scatter::put(std::span<const digest> digests) {
  const auto partitions = static_cast<std::uint32_t>(sizes_.size());
  if (partitions == 1) {
    if (lanes_[0].room - size_ < digests.size()) grow(lanes_[0], size_ + digests.size());
    std::ranges::copy(digests, lanes_[0].digests.get() + size_);
    size_ += digests.size();
    return;
  }
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const std::uint32_t p = partition_of(digests[i], partitions);
    lane& l = lanes_[p];
    if (sizes_[p] == l.room) grow(l, least_room);
    l.digests[sizes_[p]] = digests[i];
    l.origin[sizes_[p]++] = static_cast<std::uint32_t>(size_ + i);
  }
  size_ += digests.size();
}

std::span<const partition_batch> scatter::finish(std::span<const event_time> times, std::span<verdict> out,
                                                 std::span<const std::string_view> keys) {
  if (sizes_.size() == 1) return in_place({lanes_[0].digests.get(), size_}, times, out, keys);
  EVERSEEN_ASSERT(out.size() == size_);
  EVERSEEN_ASSERT(times.size() <= 1 || times.size() == size_);
  EVERSEEN_ASSERT(keys.empty() || keys.size() == size_);
  out_ = out;
  const bool own_times = times.size() > 1;
  verdicts_.resize(size_);
  times_.resize(own_times ? size_ : 0);
  keys_.resize(keys.size());
  std::size_t before = 0;
  for (std::uint32_t p = 0; p < sizes_.size(); ++p) {
    const std::size_t size = sizes_[p];
    if (size == 0) continue;
    const lane& l = lanes_[p];
    for (std::size_t i = 0; own_times && i < size; ++i) times_[before + i] = times[l.origin[i]];
    for (std::size_t i = 0; !keys.empty() && i < size; ++i) keys_[before + i] = keys[l.origin[i]];
    batches_.push_back(
        {p,
         {l.digests.get(), size},
         own_times ? std::span<const event_time>(times_).subspan(before, size) : times,
         std::span(verdicts_).subspan(before, size),
         keys.empty() ? keys : std::span<const std::string_view>(keys_).subspan(before, size)});
    before += size;
  }
  return batches_;
}

std::span<const partition_batch> scatter::sort(std::span<const digest> digests,
                                               std::span<const event_time> times, std::uint32_t partitions,
                                               std::span<verdict> out,
                                               std::span<const std::string_view> keys) {
  if (partitions > 1) {
    begin(partitions);
    put(digests);
    return finish(times, out, keys);
  }
  return in_place(digests, times, out, keys);
}

std::span<const partition_batch> scatter::in_place(std::span<const digest> digests,
                                                   std::span<const event_time> times, std::span<verdict> out,
                                                   std::span<const std::string_view> keys) {
  EVERSEEN_ASSERT(out.size() == digests.size());
  EVERSEEN_ASSERT(times.size() <= 1 || times.size() == digests.size());
  EVERSEEN_ASSERT(keys.empty() || keys.size() == digests.size());
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

// A counting sort, which keeps the order within a partition: positions of a lane must stay ascending.
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
