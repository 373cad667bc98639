#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// The older filter of the same store that a linked filter asks first: everseen link.
struct predecessor {
  std::string name;
  std::optional<event_time> until{};  ///< by the store's clock; nothing: until it is unlinked

  [[nodiscard]] bool is_over(event_time current_time) const noexcept {
    return until && *until <= current_time;
  }
  friend bool operator==(const predecessor&, const predecessor&) = default;
};

namespace image {

/// Encodes a link, or its absence, for file stores: doc/format.md, "Link record".
[[nodiscard]] std::vector<std::byte> encode_link(const std::optional<predecessor>& older);
/// @throws format_error     damaged, foreign or of another version
/// @throws parameter_error  its name is not a valid filter name
[[nodiscard]] std::optional<predecessor> decode_link(std::span<const std::byte> bytes);

}  // namespace image

}  // namespace everseen

namespace everseen::image {

inline constexpr std::size_t end_bytes = 32;

/// Encodes the expiry time of a filter for file stores: doc/format.md, "End record".
/// @param when  nothing: never
[[nodiscard]] std::array<std::byte, end_bytes> encode_end(std::optional<event_time> when);
/// @throws format_error  damaged, foreign or of another version
[[nodiscard]] std::optional<event_time> decode_end(std::span<const std::byte> bytes);

}  // namespace everseen::image
