#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace everseen {

// Single bits, as Redis numbers them (core/base/bytes.hpp). The filters themselves set and test bits in
// kernels.

[[nodiscard]] inline std::byte redis_mask(std::uint64_t position) noexcept {
  return std::byte{0x80} >> (position % 8);
}

[[nodiscard]] inline bool test_bit(std::span<const std::byte> bits, std::uint64_t position) noexcept {
  return (bits[position / 8] & redis_mask(position)) != std::byte{0};
}

/// @return whether it was 0
inline bool set_bit(std::span<std::byte> bits, std::uint64_t position) noexcept {
  const bool was_zero = !test_bit(bits, position);
  bits[position / 8] |= redis_mask(position);
  return was_zero;
}

[[nodiscard]] inline std::uint64_t count_bits(std::span<const std::byte> bits) noexcept {
  std::uint64_t count = 0;
  for (const std::byte each : bits)
    count += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(each)));
  return count;
}

}  // namespace everseen
