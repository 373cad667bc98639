#pragma once

#include <span>
#include <string>
#include <string_view>

#include "everseen/telemetry/event_log.hpp"

namespace everseen::telemetry {

/// The part of a line after its time and level. Any value keeps it one valid line of its format.
[[nodiscard]] std::string log_line(log_format format, std::string_view event,
                                   std::span<const log_field> fields);

}  // namespace everseen::telemetry
