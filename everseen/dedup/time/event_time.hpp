#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "everseen/core/spec/spec.hpp"

/// Times as programs write them. What could mean two moments is refused: time_reader reads it, in the zone or
/// the format that its user names.
namespace everseen {

/// The forms that parse_event_time() reads, for messages.
inline constexpr std::string_view time_forms =
    "seconds, ms, us or ns since 1970, 2026-11-25T08:30:00Z, 2026-11-25 08:30:00.5 +0100, 2026-11-25 (in "
    "UTC), or 25/Nov/2026:08:30:00 +0000";

/// One of
/// - seconds since 1970 (up to 11 digits, with a fraction or not), milliseconds (12 to 14 digits),
///   microseconds (15 to 17) or nanoseconds (18 and 19); but not 8, 12 or 14 digits that are a date;
/// - ISO 8601 and RFC 3339 with a zone: T may be a blank, dashes may be slashes, dashes and colons may be
/// left
///   out in front of and behind a T, so may seconds and their fraction; the zone is Z, UTC, GMT, +01:00,
///   +0100 or +01, after a blank or not;
/// - the time of an access log, in brackets or not;
/// - a date alone, whose midnight in UTC it is.
[[nodiscard]] std::optional<event_time> parse_event_time(std::string_view text) noexcept;

/// A date, or a date and a time of day.
struct written_time {
  event_time local{};                          ///< as if its zone were UTC
  std::optional<std::chrono::minutes> east{};  ///< of Greenwich, if it names a zone
  bool is_date = false;
};

/// As parse_event_time(), but of dates and times of day alone, and their zone may be missing.
[[nodiscard]] std::optional<written_time> parse_written_time(std::string_view text) noexcept;

/// Z, UTC, GMT, +01:00, +0100 or +01.    @return how far east of Greenwich
[[nodiscard]] std::optional<std::chrono::minutes> parse_offset(std::string_view text) noexcept;

/// Whether a number of 8, 12 or 14 digits is a date of the years 1900 to 2100, as in 20261125,
/// 202611250830 and 20261125083000: it could be that or a time since 1970.
[[nodiscard]] bool looks_like_date(std::string_view digits) noexcept;

}  // namespace everseen
