#pragma once

#include <bit>
#include <cstdint>
#include <limits>

/// The parts of 64-bit PHP 7 and 8 arithmetic that hash functions written in PHP depend on.
namespace everseen::compat::php {

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

}  // namespace everseen::compat::php
