#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen::redis {

/// The bit positions of many keys in one segment. Each key has a record: a MessagePack string of decimal
/// digits for each probe, then zeros up to the length of the longest possible record.
/// @param probes  strings in a record; if the segment has fewer probes, the last position is repeated, which
///   changes no answer    @pre shape.probes <= probes <= max_probes
[[nodiscard]] std::string pack_positions(const geometry& shape, std::span<const digest> digests,
                                         unsigned probes);

/// The same for given positions.
/// @param positions  `probes` of them for each key, each below `bits`
[[nodiscard]] std::string pack_positions(std::span<const std::uint64_t> positions, unsigned probes,
                                         std::uint64_t bits);

}  // namespace everseen::redis
