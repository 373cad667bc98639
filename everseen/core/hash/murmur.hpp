#pragma once

#include <cstdint>
#include <string_view>

#include "everseen/core/hash/digest.hpp"

namespace everseen {

/// MurmurHash3, variant x64-128, with seed 0: the hash of go-zero and Guava.
///
/// Well distributed, but without a secret: an attacker can construct colliding keys.
/// @return `low` is the first of its two words, the one that 64-bit implementations return
/// Cost: 10 to 17 ns for a short key. Threads: any.
[[nodiscard]] digest murmur3_x64_128(std::string_view bytes) noexcept;

/// The same for keys with a common prefix, which is hashed once.
class murmur3 {
 public:
  static constexpr std::size_t block_bytes = 16;

  /// Hashes the next `block_bytes`.
  void block(const char* bytes) noexcept;

  /// The hash of all blocks and the bytes after them.
  /// @param tail    fewer than `block_bytes`    @param length  total in bytes, tail included
  [[nodiscard]] digest finish(std::string_view tail, std::uint64_t length) const noexcept;

 private:
  std::uint64_t h1_ = 0;
  std::uint64_t h2_ = 0;
};

/// MurmurHash2, variant 64A: the hash of RedisBloom.
///
/// Cost: 6 to 11 ns for a short key. Threads: any.
[[nodiscard]] std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed) noexcept;

/// RedisBloom's two hashes of a key: `low` has a fixed seed, `high` uses `low` as the seed.
[[nodiscard]] digest murmur64a_pair(std::string_view key) noexcept;

}  // namespace everseen
