#pragma once

#include <optional>
#include <string_view>

#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Seconds (up to 11 digits), milliseconds (12 to 14 digits), seconds with a fraction, or RFC 3339 with a
/// zone, as in 1700000000, 1700000000123, 1700000000.5, 2023-11-14T22:13:20.5Z, 2023-11-14 23:13:20+01:00.
[[nodiscard]] std::optional<event_time> parse_event_time(std::string_view text) noexcept;

}  // namespace everseen
