#pragma once

#include <cstdint>

#include "everseen/core/digest.hpp"
#include "everseen/core/layout.hpp"
#include "everseen/core/sizing.hpp"

/// What the filters of other systems fix beside the positions of their bits: their hash, and how large they
/// are. Their byte formats are in compat/.
///
/// Written as those systems write it, operation by operation, so that it is rounded as there: a filter made
/// here has the size that they would give it. Pure. Threads: any.
namespace everseen::foreign {

/// The hash that belongs to a layout.    @pre is_foreign(layout)
[[nodiscard]] hash_kind hash_of(layout_kind layout) noexcept;

/// A size before it is known whether anybody can have it.
struct wanted_size {
  double words = 0;  ///< of 64 bits
  double probes = 0;
};

/// BloomFilter.create(funnel, expectedInsertions, fpp): m = -n ln p / ln²2, cut off to a bit and then rounded
/// up to words; k = max(1, round(m / n · ln 2)).
/// @pre 0 < goal.error_rate < 1
[[nodiscard]] wanted_size guava_size(const sizing::target& goal) noexcept;

/// Guava's array of longs ends at 2^31 - 1.
inline constexpr std::uint64_t max_guava_words = 0x7FFFFFFF;

/// -ln rate / ln²2, with the constant of RedisBloom.
[[nodiscard]] double redisbloom_bits_per_key(double error_rate) noexcept;
/// ceil(ln 2 · bits a key)
[[nodiscard]] double redisbloom_probes(double bits_per_key) noexcept;

/// A layer of RedisBloom.
struct redisbloom_layer {
  std::uint64_t capacity = 0;  ///< as asked for, or what rounding up adds room for
  double bits_per_key = 0;
  wanted_size size;
  unsigned log2_bits = 0;  ///< where bits are rounded up to a power of two: 2^log2_bits of them are used
};

/// Bits: n times the bits a key, cut off to a bit and then rounded up to words; or, as filters made without
/// the flag NOROUND have it, to the next power of two above.
[[nodiscard]] redisbloom_layer redisbloom_size(const sizing::target& goal, bool powers_of_two) noexcept;

}  // namespace everseen::foreign
