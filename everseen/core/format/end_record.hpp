#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "everseen/core/spec/spec.hpp"

namespace everseen::image {

inline constexpr std::size_t end_bytes = 32;

/// Encodes the expiry time of a filter for file stores: doc/format.md, "End record".
/// @param when  nothing: never
[[nodiscard]] std::array<std::byte, end_bytes> encode_end(std::optional<event_time> when);
/// @throws format_error  damaged, foreign or of another version
[[nodiscard]] std::optional<event_time> decode_end(std::span<const std::byte> bytes);

}  // namespace everseen::image
