#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/layout.hpp"

namespace everseen {

/// The estimate for a segment whose bits are all set: any number of keys could have done that.
inline constexpr std::uint64_t countless_keys = std::uint64_t{1} << 47;

/// The keys of a segment whose stored count may lag behind its bits: after an unclean end, and in a copy
/// taken beside a writer. The count, unless the set bits speak for more keys than chance explains (three
/// times the square root); then the estimate from the bits, at most countless_keys.
/// Reads all bits.
[[nodiscard]] std::uint64_t recovered_keys(std::uint64_t counted, const geometry& shape,
                                           std::span<const std::byte> bits);

}  // namespace everseen
