#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

/// All segments of the slices, oldest first, with their layers.
struct listed_segment {
  segment_id id;
  layer_state layer;
};
[[nodiscard]] std::vector<listed_segment> segments_of(std::uint32_t partition,
                                                      const std::vector<slice_state>& slices);

/// The list of a partition's segments, as stored in its state. The number of keys in each is stored beside
/// it.
[[nodiscard]] std::string encode_manifest(const filter_identity& f, std::uint32_t partition,
                                          const partition_state& s);
/// @throws format_error  it is damaged, or belongs to another filter or partition
[[nodiscard]] image::manifest decode_manifest(const filter_identity& f, std::uint32_t partition,
                                              std::string_view bytes);

}  // namespace everseen::redis
