#pragma once

#include <cstdint>

#include "everseen/core/hash/digest.hpp"

/// The position sequences that other systems derive from a digest. Positions number the bits of a segment in
/// Redis's order; the formats of other systems convert stored bytes to that order.
///
/// They divide, at 5 to 10 ns a probe: reduction by multiplication cannot give these numbers.
/// @pre of all constructors: bits > 0
namespace everseen::draw {

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
