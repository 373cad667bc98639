#pragma once

#include <bit>
#include <cstdint>
#include <limits>

/// The part of PHP's arithmetic that hash functions written in PHP depend on, as 64-bit PHP 7 and 8 do it.
namespace everseen::compat::php {

/// What `$d & …` sees of a double that is not negative: its whole part mod 2^64, and 0 for infinity.
[[nodiscard]] inline std::uint64_t to_integer(double d) noexcept {
  static_assert(std::numeric_limits<double>::is_iec559);
  if (d < 0x1p63) return static_cast<std::uint64_t>(d);
  // From here on the 53 bits of the fraction stand left of the point, and a shift is a multiplication mod
  // 2^64.
  constexpr std::uint64_t hidden_bit = std::uint64_t{1} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(d);
  const auto shift = static_cast<unsigned>(bits >> 52) - 1075;
  return shift >= 64 ? 0 : ((bits & (hidden_bit - 1)) | hidden_bit) << shift;
}

/// What `$h * $seed` gives, converted by floatval(): the product is an integer while it stays below 2^63, so
/// that it is rounded once, and otherwise the product of two rounded numbers.
[[nodiscard]] inline double product(std::int64_t h, std::int64_t seed) noexcept {
  std::int64_t exact = 0;
  return __builtin_mul_overflow(h, seed, &exact) ? static_cast<double>(h) * static_cast<double>(seed)
                                                 : static_cast<double>(exact);
}

}  // namespace everseen::compat::php
