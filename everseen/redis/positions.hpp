#pragma once

#include <span>
#include <string>

#include "everseen/core/digest.hpp"
#include "everseen/core/layout.hpp"

namespace everseen::redis {

/// The bit positions of many keys in one segment as a MessagePack array of decimal strings, key after key.
/// @pre digests.size() * shape.probes < 2^32
[[nodiscard]] std::string pack_positions(const geometry& shape, std::span<const digest> digests);

}  // namespace everseen::redis
