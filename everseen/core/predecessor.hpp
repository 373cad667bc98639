#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/spec.hpp"

namespace everseen {

/// The older filter of the same store that another one asks first: everseen link.
struct predecessor {
  std::string name;
  std::optional<event_time> until{};  ///< by the clock of the store; nothing: until it is told

  [[nodiscard]] bool is_over(event_time now) const noexcept { return until && *until <= now; }
  friend bool operator==(const predecessor&, const predecessor&) = default;
};

namespace image {

/// The longest that a link record can be: that of a name of 100 bytes.
inline constexpr std::size_t max_link_bytes = 132;

/// What a store of files keeps of a link, or of there being none: doc/format.md, "Link record".
[[nodiscard]] std::vector<std::byte> encode_link(const std::optional<predecessor>& older);
/// @throws format_error     damaged, foreign or of another version
/// @throws parameter_error  its name is none that a filter can have
[[nodiscard]] std::optional<predecessor> decode_link(std::span<const std::byte> bytes);

}  // namespace image

}  // namespace everseen
