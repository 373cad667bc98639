#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace everseen {

/// Little-endian integers at any address: the byte order of every everseen format.

template <typename Integer>
[[nodiscard]] inline Integer load_le(const void* at) noexcept {
  static_assert(std::endian::native == std::endian::little, "big-endian machines need byte swaps here");
  Integer value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Integer>
inline void store_le(void* at, Integer value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

[[nodiscard]] inline std::uint64_t load_le64(const void* at) noexcept {
  return load_le<std::uint64_t>(at);
}

}  // namespace everseen
