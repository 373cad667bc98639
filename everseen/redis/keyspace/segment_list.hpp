#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/core/format/announced_filter.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

/// The list of a partition's segments, as stored in its state. The number of keys in each is stored beside
/// it.
[[nodiscard]] std::string encode_manifest(const filter_identity& f, std::uint32_t partition,
                                          const partition_state& s);
/// @throws format_error  it is damaged, or belongs to another filter or partition
[[nodiscard]] image::manifest decode_manifest(const filter_identity& f, std::uint32_t partition,
                                              std::string_view bytes);

}  // namespace everseen::redis
