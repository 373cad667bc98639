/// Redisson's RBloomFilter (org.redisson.RedissonBloomFilter).
///
/// Hash: HighwayHash-128 with Redisson's fixed key, of the bytes that the filter's codec makes of the object.
/// StringCodec and ByteArrayCodec give the text in UTF-8 and the array itself, so there a key is its own
/// bytes. Other codecs, also the default one, wrap the object in bytes of their own. Positions: x and y are
/// the two words. h = x; for i = 0 … k-1 the position is the lower 63 bits of h, mod m; then h += y if i is
/// even, else h += x.
///
/// Container: one Redis string in which SETBIT numbers the bits; and a hash, `config_key`, with the fields
/// size (m), hashIterations (k), expectedInsertions and falseProbability. tryInit() writes the hash; the
/// string begins with the first key. Each of Redisson's calls compares m and k with the hash and fails if
/// they differ.
///
/// Quality: all positions of a key follow from two numbers mod m, so filters for low rates err more often
/// than their formula says. With a million keys: 1.2 times as often at 1 %, 1.4 times at 0.1 %, 5 times at
/// 1e-6, and 100 times at 1e-9: doc/hashing.md, "How good they are", from bench/foreign_rates_bench.cpp. The
/// hash has no secret.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/hash/digest.hpp"

namespace everseen::foreign::redisson {

/// Integer.MAX_VALUE * 2, where Redisson's own tryInit() ends.
inline constexpr std::uint64_t max_bits = 4'294'967'294;

inline constexpr std::string_view size_field = "size";
inline constexpr std::string_view probes_field = "hashIterations";

/// {NAME}:config, or NAME:config where the name has a brace.
[[nodiscard]] std::string config_key(std::string_view name);

/// Cost: as highway_hash_128. Threads: any.
[[nodiscard]] digest hash(std::string_view key) noexcept;

/// @pre bits > 0
void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

/// What tryInit() writes to the hash.
struct shape {
  std::uint64_t bits = 0;
  unsigned probes = 0;
  friend bool operator==(const shape&, const shape&) = default;
};

/// The shape that tryInit(expectedInsertions, falseProbability) chooses: m = ⌊-n ln p / ln²2⌋,
/// k = max(1, ⌊m / n · ln 2 + ½⌋).
/// @param expected  insertions    @param rate  in (0, 1)
/// @throws parameter_error  Redisson would refuse it: no keys, no bits, or more than max_bits
[[nodiscard]] shape smallest(std::uint64_t expected, double rate);

}  // namespace everseen::foreign::redisson

namespace everseen::foreign {

/// HighwayHash with 128 bits of output, as its authors define it (portable form, version 1.0).
/// @param key  the four words of its secret, the first one first
/// @return low: the first word of the output, high: the second
/// Cost: 30 ns, and 1 ns more for each 2 bytes. Threads: any.
[[nodiscard]] digest highway_hash_128(const std::array<std::uint64_t, 4>& key,
                                      std::string_view bytes) noexcept;

}  // namespace everseen::foreign
