#include "everseen/store/memory_segments.hpp"

#include <algorithm>

#include "everseen/core/assert.hpp"

namespace everseen {

std::byte* memory_segments::at(const segment_id& id) const noexcept {
  const auto& list = partitions_[id.partition];
  const auto found = std::find_if(list.begin(), list.end(), [&](const segment& s) { return s.id == id; });
  EVERSEEN_ASSERT(found != list.end());
  return found->bits.data();
}

void memory_segments::create(const segment_id& id, const geometry& shape, std::uint64_t /*capacity*/) {
  partitions_[id.partition].push_back({id, huge_memory(shape.bytes)});
}

void memory_segments::drop_before(std::uint32_t partition, window::slice_index oldest) {
  std::erase_if(partitions_[partition], [&](const segment& s) { return s.id.slice < oldest; });
}

}  // namespace everseen
