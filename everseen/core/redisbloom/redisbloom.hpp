#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"

/// RedisBloom's scalable filter (BF.RESERVE, BF.ADD), as versions 2.0 to 2.8 compute it.
///
/// Hash: a = MurmurHash64A of the key with seed 0xC6A4A7935BD1E995, b = the same with seed a. Position i = 0
/// … k-1: (a + i · b mod 2^64) mod m. Bit p is byte p / 8, mask 1 << p % 8, which is Redis's bit p ^ 7.
///
/// Layers: a layer for n keys at rate p has -ln p / 0.480453013918201 bits a key, times n, rounded down to a
/// bit and then up to 64 bits, and k = ceil(ln 2 · bits a key). The first layer gets half of the requested
/// rate. Each further layer gets half the rate of the previous layer and `expansion` times its keys. A chain
/// that must not grow has one layer with the whole rate.
///
/// Container: the chunks of BF.SCANDUMP and BF.LOADCHUNK: redisbloom_dump.hpp.
///
/// Quality: the rate of the formula, also through growth. k is rounded up from the optimum, and a look-up
/// tests all layers. Double hashing mod m has a floor of the order of n / m², which only small filters with
/// low rates meet. The hash has no secret.
namespace everseen::redisbloom {

/// @param hash  murmur64a_pair of the key    @pre bits > 0
void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

/// How a chain was created: the flags of its dump.
namespace flags {
inline constexpr std::uint32_t exact_size = 1;  ///< m is not rounded up to a power of two
inline constexpr std::uint32_t wide_hash = 4;   ///< the hash above; without it, an older 32-bit hash
inline constexpr std::uint32_t fixed_size = 8;  ///< NONSCALING
inline constexpr std::uint32_t created = exact_size | wide_hash;  ///< set by BF.RESERVE since 2.0
}  // namespace flags

/// One bit array of a chain: all but its bits, whose low bit of a byte comes first.
struct layer_shape {
  std::uint64_t capacity = 0;  ///< keys
  double error_rate = 0;
  double bits_per_key = 0;
  std::uint32_t probes = 0;
  std::uint8_t log2_bits = 0;  ///< not 0: positions are mod 2^log2_bits (no `exact_size`)
  std::uint64_t keys = 0;
  friend bool operator==(const layer_shape&, const layer_shape&) = default;
};

/// A RedisBloom filter: all but its bits.
struct chain_shape {
  std::uint32_t flags = flags::created;
  std::uint32_t expansion = 2;
  std::uint64_t keys = 0;
  std::vector<layer_shape> layers;  ///< oldest first, at least one

  [[nodiscard]] bool grows() const noexcept { return (flags & flags::fixed_size) == 0; }
};

}  // namespace everseen::redisbloom
