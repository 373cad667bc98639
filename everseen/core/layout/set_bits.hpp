#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace everseen {

/// The number of bits that are set.    Cost: 0.1 to 0.3 ns per byte.
[[nodiscard]] std::uint64_t count_set_bits(std::span<const std::byte> bits) noexcept;

/// The number of bits that are set in at least one of several spans of equal length.
/// Cost: 0.1 to 0.3 ns per byte of each.
[[nodiscard]] std::uint64_t count_set_bits(std::span<const std::span<const std::byte>> all) noexcept;

}  // namespace everseen
