#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "everseen/core/hash/digest.hpp"

namespace everseen::compat {

/// HighwayHash with 128 bits of output, as its authors define it (portable form, version 1.0).
/// @param key  the four words of its secret, the first one first
/// @return low: the first word of the output, high: the second
/// Cost: 30 ns, and 1 ns more for each 2 bytes. Threads: any.
[[nodiscard]] digest highway_hash_128(const std::array<std::uint64_t, 4>& key,
                                      std::string_view bytes) noexcept;

}  // namespace everseen::compat
