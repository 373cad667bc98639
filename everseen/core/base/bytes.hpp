#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace everseen {

/// Little-endian integers at any address: the byte order of every everseen format.

template <typename Integer>
[[nodiscard]] inline Integer load_le(const void* bytes) noexcept {
  static_assert(std::endian::native == std::endian::little, "big-endian machines need byte swaps here");
  Integer value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename Integer>
inline void store_le(void* bytes, Integer value) noexcept {
  std::memcpy(bytes, &value, sizeof value);
}

[[nodiscard]] inline std::uint64_t load_le64(const void* bytes) noexcept {
  return load_le<std::uint64_t>(bytes);
}

// How byte arrays number their bits.
//
// Redis: bit p is byte p / 8, mask 0x80 >> p % 8. Other systems count from the low end of a byte
// (RedisBloom) or of a big-endian word (Guava). Their bit p is Redis's bit p ^ 7, or p ^ 63, of the same
// bytes.

/// Reverses the bits within each byte.
[[nodiscard]] constexpr std::uint64_t bits_of_bytes_reversed(std::uint64_t word) noexcept {
  // Swaps halves, then quarters, then single bits.
  constexpr std::uint64_t fours = 0x0F0F0F0F0F0F0F0F;
  constexpr std::uint64_t twos = 0x3333333333333333;
  constexpr std::uint64_t ones = 0x5555555555555555;
  word = ((word >> 4) & fours) | ((word & fours) << 4);
  word = ((word >> 2) & twos) | ((word & twos) << 2);
  return ((word >> 1) & ones) | ((word & ones) << 1);
}

/// Reverses the bits within each byte, which converts between Redis's order and RedisBloom's.
/// @pre as many bytes in both, which may be the same memory
inline void reverse_bits_of_bytes(std::span<const std::byte> from, std::span<std::byte> out) noexcept {
  std::size_t position = 0;
  for (; position + 8 <= from.size(); position += 8)
    store_le(out.data() + position, bits_of_bytes_reversed(load_le64(from.data() + position)));
  for (; position < from.size(); ++position)
    out[position] =
        static_cast<std::byte>(bits_of_bytes_reversed(std::to_integer<std::uint64_t>(from[position])));
}

}  // namespace everseen
