/// The parts of 64-bit PHP 7 and 8 arithmetic that hash functions written in PHP depend on.

#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "everseen/foreign/bitmap/plain_filters.hpp"

namespace everseen::foreign::php {

/// The integer operand that `$d & …` uses for a double >= 0: its integer part mod 2^64; 0 for infinity.
[[nodiscard]] inline std::uint64_t to_integer(double d) noexcept {
  static_assert(std::numeric_limits<double>::is_iec559);
  if (d < 0x1p63) return static_cast<std::uint64_t>(d);
  // The double is an integer now: its 53-bit significand is shifted left, mod 2^64.
  constexpr std::uint64_t hidden_bit = std::uint64_t{1} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(d);
  const auto shift = static_cast<unsigned>(bits >> 52) - 1075;
  return shift >= 64 ? 0 : ((bits & (hidden_bit - 1)) | hidden_bit) << shift;
}

/// floatval($h * $seed): while the product stays below 2^63 it is an integer and is rounded once; above, both
/// factors are rounded first.
[[nodiscard]] inline double product(std::int64_t h, std::int64_t seed) noexcept {
  std::int64_t exact = 0;
  return __builtin_mul_overflow(h, seed, &exact) ? static_cast<double>(h) * static_cast<double>(seed)
                                                 : static_cast<double>(exact);
}

}  // namespace everseen::foreign::php

namespace everseen::foreign {

/// CRC-32 as zlib, gzip and PHP's crc32() compute it: polynomial 0x04C11DB7, reflected, inverted before and
/// after.
///
/// Cost: 1 ns a byte. Threads: any.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;

}  // namespace everseen::foreign

namespace everseen::foreign::bkdr_php {

/// BKDR hashes, as PHP programs compute them.
///
/// Hash: h = 0; for each byte of the key h = ((floatval(h · seed) mod 2^31) + byte) mod 2^31, with the seeds
/// of plain_filters.hpp. The product is rounded to a double, which keeps its upper 53 bits, and a product of
/// 2^63 or more is the product of two doubles. Converting it back is modulo 2^64. Position: the hash mod m.
///
/// So the first six seeds give the same hashes as C. From 13131313 on, a product may need more than 53 bits.
/// It loses its low bits, which are the ones that the mask keeps.
///
/// Container: one Redis string in which SETBIT numbers the bits; or shards, below. m is stored nowhere.
///
/// Quality: with 8 probes as for bkdr. With 16 probes bad: the hashes with the longest seeds depend on
/// little more than the last byte of the key, so these probes are soon set for every key. The rate is then
/// that of fewer probes in a fuller filter. A million keys at 30 bits each have 17 to 50 times the false
/// positives of the formula, at 50 bits 80 to 1000 times: doc/hashing.md, "How good they are", from
/// bench/foreign_rates_bench.cpp.

inline constexpr unsigned max_probes = bkdr::max_probes;

/// The hash with each seed.    @pre out.size() <= max_probes    Cost: 3 ns per byte and probe. Threads: any.
void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept;

/// @pre bits > 0, out.size() <= max_probes
void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

/// The place of a key's bits in a filter that is spread over several Redis instances, and over several
/// strings in each instance. The CRC-32 of the key decides both.
///
/// Both choices use the same number. With 2 instances and 2 partitions, instance 0 never uses partition 1:
/// half of the strings stay empty, and the others hold twice the keys. Positions are mod m, the bits of the
/// whole filter. Since hashes have 31 bits, positions stay in the first 256 MiB of a string.
class shards {
 public:
  /// @param bits  m, of the whole filter    @throws parameter_error  no bits, or no instances
  shards(std::uint64_t bits, std::uint32_t instances);

  /// 1 up to 2^32 bits, else ceil(ceil(m / instances) / 2^32).
  [[nodiscard]] std::uint64_t partitions() const noexcept { return partitions_; }

  struct place {
    std::uint32_t instance = 0;
    std::uint64_t partition = 0;
    friend bool operator==(const place&, const place&) = default;
  };
  [[nodiscard]] place of(std::string_view key) const noexcept;

  /// "NAME.0", "NAME.1", …; numbered even if there is only one.
  [[nodiscard]] static std::string redis_key(std::string_view name, std::uint64_t partition);

 private:
  std::uint32_t instances_;
  std::uint64_t partitions_;
};

}  // namespace everseen::foreign::bkdr_php

namespace everseen::foreign::uid_php {

/// A PHP filter for user ids.
///
/// Hash: for each of the seeds 7, 11, 13, 17, 19, 23, 29: h = 0; for each byte of the key h = seed · h +
/// byte. Position: the lower 26 bits of h. A number that overflows PHP's integers continues as a double.
///
/// Container: one Redis string of 2^26 bits, 8 MiB, in which SETBIT numbers the bits.
///
/// Quality: fit for its purpose, ids of up to 12 digits. For longer keys, doubles lose low bits, and
/// positions become multiples of powers of two. From 30 bytes on, every position of every key is 0, so after
/// one such key all others are called seen. Short ids reach little of the string: with four digits and seed 7
/// no hash exceeds 23,000.

inline constexpr unsigned probes = 7;
inline constexpr std::uint64_t bits = std::uint64_t{1} << 26;

/// @pre out.size() <= probes    Cost: 1 ns per byte and probe. Threads: any.
void positions(std::string_view key, std::span<std::uint64_t> out) noexcept;

}  // namespace everseen::foreign::uid_php
