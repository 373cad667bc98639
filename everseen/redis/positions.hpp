#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "everseen/core/digest.hpp"
#include "everseen/core/layout.hpp"

namespace everseen::redis {

/// The bit positions of many keys in one segment: a record a key, which is a MessagePack string of decimal
/// digits for each probe, and then zeros up to the length of the longest possible record.
[[nodiscard]] std::string pack_positions(const geometry& shape, std::span<const digest> digests);

/// The same of positions that come from elsewhere.
/// @param positions  `probes` of them a key, each below `bits`
[[nodiscard]] std::string pack_positions(std::span<const std::uint64_t> positions, unsigned probes,
                                         std::uint64_t bits);

}  // namespace everseen::redis
