#include "everseen/store/memory/memory_segments.hpp"

#include <algorithm>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/kernel/first_touch.hpp"

namespace everseen {

namespace {

/// A layer up to this size, over all partitions, has huge pages from the start: zeroing it takes a tenth of a
/// second.
constexpr std::uint64_t huge_at_once_bytes = std::uint64_t{128} << 20;

/// The number of keys that touch an eighth of the small pages of a segment: a ten-thousandth of those that it
/// has room for. All others are faster in huge pages.
std::uint64_t few_keys(const geometry& shape) noexcept {
  constexpr std::uint64_t page_bytes = 4096;
  return shape.bytes / page_bytes / 8 / touched_lines(shape);
}

}  // namespace

std::size_t memory_segments::place_of(const segment_id& id) const noexcept {
  const auto& list = partitions_[id.partition];
  const auto found = std::lower_bound(
      list.begin(), list.end(), id, [](const segment& s, const segment_id& wanted) { return s.id < wanted; });
  return static_cast<std::size_t>(found - list.begin());
}

std::byte* memory_segments::at(const segment_id& id) const noexcept {
  const auto& list = partitions_[id.partition];
  const std::size_t place = place_of(id);
  EVERSEEN_ASSERT(place < list.size() && list[place].id == id);
  return list[place].bits.data();
}

void memory_segments::create(const segment_id& id, const geometry& shape, std::uint64_t /*capacity*/) {
  const bool small_layer = shape.bytes <= huge_at_once_bytes / partitions_.size();
  const auto pages = small_layer ? huge_memory::pages::huge : huge_memory::pages::small;
  auto& list = partitions_[id.partition];
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place_of(id)),
              {id, huge_memory(shape.bytes, pages), few_keys(shape)});
}

// Before the keys of a batch, which touch most pages of a segment: each small page would be a fault, and a
// copy later.
void memory_segments::expect_keys(const segment_id& id, std::uint64_t keys) noexcept {
  segment& expecting = partitions_[id.partition][place_of(id)];
  if (keys > expecting.few_keys) expecting.bits.gather();
}

std::uint64_t memory_segments::bytes_of(std::uint32_t partition) const noexcept {
  std::uint64_t sum = 0;
  for (const segment& s : partitions_[partition]) sum += s.bits.size();
  return sum;
}

void memory_segments::drop_before(std::uint32_t partition, window::slice_index oldest) {
  std::erase_if(partitions_[partition], [&](const segment& s) { return s.id.slice < oldest; });
}

}  // namespace everseen
