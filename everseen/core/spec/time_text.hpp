#pragma once

#include <cstddef>
#include <string>

#include "everseen/core/spec/spec.hpp"

/// Times as text: the inverse of parse_event_time.
namespace everseen {

/// Length of the output of write_event_time: `2023-11-14T22:13:20.500Z`.
inline constexpr std::size_t event_time_chars = 24;

/// Writes RFC 3339 in UTC with milliseconds to `out` and returns the end. Cost: some 10 ns.
/// @pre `out` has room for event_time_chars, and the year is one of 0 to 9999
char* write_event_time(event_time time, char* out) noexcept;

/// The same as a string; outside the years 0 to 9999, the milliseconds since 1970: `253402300800000 ms`.
[[nodiscard]] std::string format_event_time(event_time time);

}  // namespace everseen
