#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

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

}  // namespace everseen
