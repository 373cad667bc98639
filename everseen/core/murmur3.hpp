#pragma once

#include <cstdint>
#include <string_view>

#include "everseen/core/digest.hpp"

namespace everseen {

/// MurmurHash3, the variant x64-128, with seed 0: what go-zero and Guava hash with.
///
/// Good bits, but no secret: whoever knows the function can make keys that collide.
/// @return `low` is the first of its two words, the one that implementations with 64 bits of output give
/// Cost: 10 to 17 ns for a short key. Threads: any.
[[nodiscard]] digest murmur3_x64_128(std::string_view bytes) noexcept;

/// The same for keys that begin alike, so that what they share is hashed once.
class murmur3 {
 public:
  static constexpr std::size_t block_bytes = 16;

  /// Takes the next `block_bytes`.
  void block(const char* bytes) noexcept;

  /// The hash of all blocks and what is behind them.
  /// @param tail    fewer than `block_bytes`    @param length  of all, tail included, in bytes
  [[nodiscard]] digest finish(std::string_view tail, std::uint64_t length) const noexcept;

 private:
  std::uint64_t h1_ = 0;
  std::uint64_t h2_ = 0;
};

}  // namespace everseen
