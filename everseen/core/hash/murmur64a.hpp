#pragma once

#include <cstdint>
#include <string_view>

#include "everseen/core/hash/digest.hpp"

namespace everseen {

/// MurmurHash2, variant 64A: the hash of RedisBloom.
///
/// Cost: 6 to 11 ns for a short key. Threads: any.
[[nodiscard]] std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed) noexcept;

/// RedisBloom's two hashes of a key: `low` has a fixed seed, `high` uses `low` as the seed.
[[nodiscard]] digest murmur64a_pair(std::string_view key) noexcept;

}  // namespace everseen
