#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// Lengths of time as people type them, in options, URLs, configuration and HTTP.
namespace everseen {

/// The units, for messages.
inline constexpr std::string_view duration_units = "ms, s, m, h, d or w";

enum class duration_fault : std::uint8_t { none, no_duration, no_unit, too_long };

struct duration_read {
  std::chrono::milliseconds time{};
  duration_fault fault = duration_fault::none;
};

/// One or more numbers with units: 10m, 1h30m, 1.5h, 500ms, 4w, 30 days. The units are those of
/// duration_units and their words: sec, secs, second, seconds, min, minutes, ... What a month or a year would
/// be is unclear, so there are none. Fractions of a millisecond are refused as no duration.
[[nodiscard]] duration_read read_duration(std::string_view text) noexcept;

/// The shortest text that read_duration() reads as the same duration: 1h30m.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds time);

}  // namespace everseen
