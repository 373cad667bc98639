#include "everseen/store/memory/sibling_union.hpp"

namespace everseen {

sibling_union::sibling_union(const spec& s, std::uint32_t partition,
                             std::span<const sibling_segment> siblings)
    : partition_(partition), bits_(s.partitions), all_(s, partition, bits_) {
  all_.merge(siblings);
}

std::vector<sibling_segment> sibling_union::segments() const {
  std::vector<sibling_segment> segments;
  for (const announced_filter::segment& s : segments_of(partition_, state().slices))
    segments.push_back({s.id, s.layer, {bits_.at(s.id), static_cast<std::size_t>(s.layer.shape.bytes)}});
  return segments;
}

}  // namespace everseen
