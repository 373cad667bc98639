/// Properties of other systems' filters besides bit positions: their hash and their size. Their byte formats
/// are in core/redisbloom and in foreign/.
///
/// The arithmetic repeats that of the original, operation by operation, so that rounding is identical and a
/// filter has the same size here and there. Pure. Threads: any.

#pragma once

#include <cstdint>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen::foreign_sizes {

/// The hash that belongs to a layout.    @pre is_foreign(layout)
[[nodiscard]] hash_kind hash_of(layout_kind layout) noexcept;

/// A computed size, before any limit is checked.
struct wanted_size {
  double words = 0;  ///< of 64 bits each
  double probes = 0;
};

/// BloomFilter.create(funnel, expectedInsertions, fpp): m = -n ln p / ln²2, truncated to a bit and then
/// rounded up to words; k = max(1, round(m / n · ln 2)).
/// @pre 0 < goal.error_rate < 1
[[nodiscard]] wanted_size guava_size(const sizing::target& goal) noexcept;

/// Guava's array of longs has at most 2^31 - 1 elements.
inline constexpr std::uint64_t max_guava_words = 0x7FFFFFFF;

/// -ln rate / ln²2, with RedisBloom's constant.
[[nodiscard]] double redisbloom_bits_per_key(double error_rate) noexcept;
/// ceil(ln 2 · bits a key)
[[nodiscard]] double redisbloom_probes(double bits_per_key) noexcept;

/// The size of a RedisBloom layer.
struct redisbloom_layer {
  std::uint64_t capacity = 0;  ///< as requested, or more if bits were rounded up
  double bits_per_key = 0;
  wanted_size size;
  unsigned log2_bits = 0;  ///< with powers of two: 2^log2_bits bits are used
};

/// Bits: n times the bits per key, truncated to a bit and then rounded up to words. Filters created without
/// the flag NOROUND instead round up to the next power of two.
[[nodiscard]] redisbloom_layer redisbloom_size(const sizing::target& goal, bool powers_of_two) noexcept;

/// @throws parameter_error  the error rate is below what everseen's filters support
void must_be_possible(double error_rate);
/// @throws parameter_error  the filter sets more bits a key than everseen supports
void must_be_settable(unsigned probes);

}  // namespace everseen::foreign_sizes

namespace everseen::draw {

// The position sequences that other systems derive from a digest. Positions number the bits of a segment in
// Redis's order; the formats of other systems convert stored bytes to that order.
//
// They divide, at 5 to 10 ns a probe: reduction by multiplication cannot give these numbers.
// @pre of all constructors: bits > 0

/// Guava's MURMUR128_MITZ_32: with a and b the lower and the upper half of the first word, for i = 1 … k the
/// signed 32-bit sum a + i · b, with all bits inverted if it is negative; mod m.
class guava32_positions {
 public:
  [[gnu::always_inline]] guava32_positions(const digest& d, std::uint64_t bits) noexcept
      : sum_(static_cast<std::uint32_t>(d.low)),
        step_(static_cast<std::uint32_t>(d.low >> 32)),
        bits_(bits) {}
  [[nodiscard, gnu::always_inline]] std::uint64_t next() noexcept {
    constexpr std::uint32_t sign = std::uint32_t{1} << 31;
    sum_ += step_;
    return ((sum_ & sign) != 0 ? ~sum_ : sum_) % bits_;
  }

 private:
  std::uint32_t sum_, step_;
  std::uint64_t bits_;
};

/// Guava's MURMUR128_MITZ_64: for i = 0 … k-1 the lower 63 bits of x + i · y; mod m.
class guava64_positions {
 public:
  [[gnu::always_inline]] guava64_positions(const digest& d, std::uint64_t bits) noexcept
      : sum_(d.low), step_(d.high), bits_(bits) {}
  [[nodiscard, gnu::always_inline]] std::uint64_t next() noexcept {
    constexpr std::uint64_t without_sign = ~std::uint64_t{0} >> 1;
    const std::uint64_t position = (sum_ & without_sign) % bits_;
    sum_ += step_;
    return position;
  }

 private:
  std::uint64_t sum_, step_, bits_;
};

/// RedisBloom's: for i = 0 … k-1 the sum a + i · b mod 2^64; mod m.
class redisbloom_positions {
 public:
  [[gnu::always_inline]] redisbloom_positions(const digest& d, std::uint64_t bits) noexcept
      : sum_(d.low), step_(d.high), bits_(bits) {}
  [[nodiscard, gnu::always_inline]] std::uint64_t next() noexcept {
    const std::uint64_t position = sum_ % bits_;
    sum_ += step_;
    return position;
  }

 private:
  std::uint64_t sum_, step_, bits_;
};

}  // namespace everseen::draw
