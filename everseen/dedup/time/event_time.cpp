#include "everseen/dedup/time/event_time.hpp"

#include <algorithm>
#include <charconv>

namespace everseen {

namespace {

using namespace std::chrono;

/// Reads digits from the front of a text.
class digit_reader {
 public:
  explicit digit_reader(std::string_view text) noexcept : rest_(text) {}

  /// Reads exactly `digits` digits; sets failed() otherwise.
  int number(std::size_t digits) noexcept {
    int value = 0;
    if (rest_.size() < digits) {
      failed_ = true;
      digits = rest_.size();
    }
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = rest_[i] - '0';
      failed_ |= digit < 0 || digit > 9;
      value = 10 * value + digit;
    }
    rest_.remove_prefix(digits);
    return value;
  }
  bool accept(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool accept(std::string_view word) noexcept {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool is_at_digit() const noexcept { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  void expect(char c) noexcept { failed_ |= !accept(c); }
  void fail() noexcept { failed_ = true; }

  /// Milliseconds of a fraction such as 5 or 123456; digits after the third are dropped.
  int fraction_ms() noexcept {
    int value = 0;
    int digits = 0;
    for (; is_at_digit(); rest_.remove_prefix(1), ++digits)
      if (digits < 3) value = 10 * value + (rest_.front() - '0');
    failed_ |= digits == 0;
    for (; digits < 3; ++digits) value *= 10;
    return value;
  }

  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool done() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

std::optional<minutes> take_zone(digit_reader& in) noexcept {
  if (in.accept('Z') || in.accept('z') || in.accept("UTC") || in.accept("GMT")) return minutes(0);
  const bool west = in.accept('-');
  if (!west && !in.accept('+')) return std::nullopt;
  const int zone_hours = in.number(2);
  const int zone_minutes = in.accept(':') || in.is_at_digit() ? in.number(2) : 0;
  if (zone_hours > 23 || zone_minutes > 59) in.fail();
  return minutes(60 * zone_hours + zone_minutes) * (west ? -1 : 1);
}

/// Of ISO 8601: 083000 or 08:30:00.
enum class iso_form : bool { basic, extended };

/// What follows a date: 08:30, 08:30:00 or 08:30:00.5, and a zone or none.
written_time take_time_of_day(digit_reader& in, year_month_day date, iso_form form) noexcept {
  const auto is_next = [&] { return form == iso_form::extended ? in.accept(':') : in.is_at_digit(); };
  const int hour = in.number(2);
  if (!is_next()) in.fail();
  const int minute = in.number(2);
  const bool has_seconds = is_next();
  const int second = has_seconds ? in.number(2) : 0;
  const int ms = has_seconds && (in.accept('.') || in.accept(',')) ? in.fraction_ms() : 0;
  if (in.accept(' ') && in.rest().empty()) in.fail();
  const auto east = take_zone(in);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) in.fail();
  return {sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + milliseconds{ms}, east};
}

year_month_day date_of(int y, int m, int d) noexcept {
  return {year{y}, month{static_cast<unsigned>(m)}, day{static_cast<unsigned>(d)}};
}

/// 2026-11-25 or 2026/11/25, and a time of day or none.
std::optional<written_time> parse_iso(std::string_view text) noexcept {
  digit_reader in(text);
  const int y = in.number(4);
  const char between = text[4];
  in.expect(between);
  const int m = in.number(2);
  in.expect(between);
  const int d = in.number(2);
  const year_month_day date = date_of(y, m, d);
  if (in.done()) return date.ok() ? std::optional(written_time{sys_days{date}, {}, true}) : std::nullopt;
  if (!in.accept('T') && !in.accept('t')) in.expect(' ');
  const written_time time = take_time_of_day(in, date, iso_form::extended);
  return in.done() ? std::optional(time) : std::nullopt;
}

/// 20261125T083000Z
std::optional<written_time> parse_basic_iso(std::string_view text) noexcept {
  digit_reader in(text);
  const int y = in.number(4);
  const int m = in.number(2);
  const int d = in.number(2);
  in.expect('T');
  const written_time time = take_time_of_day(in, date_of(y, m, d), iso_form::basic);
  return in.done() ? std::optional(time) : std::nullopt;
}

/// 25/Nov/2026:08:30:00 +0000, as web servers write it. A field between blanks has its bracket alone.
std::optional<written_time> parse_access_log(std::string_view text) noexcept {
  constexpr std::string_view names = "JanFebMarAprMayJunJulAugSepOctNovDec";
  digit_reader in(text);
  const bool bracket = in.accept('[');
  const int d = in.number(2);
  in.expect('/');
  if (in.rest().size() < 3) return std::nullopt;
  const std::size_t name = names.find(in.rest().substr(0, 3));
  if (name == std::string_view::npos || name % 3 != 0) return std::nullopt;
  in.accept(in.rest().substr(0, 3));
  in.expect('/');
  const int y = in.number(4);
  in.expect(':');
  const written_time time =
      take_time_of_day(in, date_of(y, static_cast<int>(name / 3 + 1), d), iso_form::extended);
  if (bracket) in.accept(']');
  return in.done() ? std::optional(time) : std::nullopt;
}

std::optional<event_time> parse_unix(std::string_view text) noexcept {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{} || looks_like_date(text)) return std::nullopt;
  const auto digits = static_cast<std::size_t>(end - text.data()) - (text.front() == '-' ? 1 : 0);
  digit_reader in(text.substr(static_cast<std::size_t>(end - text.data())));
  if (digits <= 11) {
    const int ms = in.accept('.') ? in.fraction_ms() : 0;
    if (!in.done()) return std::nullopt;
    return event_time(seconds{whole} + milliseconds{text.front() == '-' ? -ms : ms});
  }
  if (!in.done()) return std::nullopt;
  if (digits <= 14) return event_time(milliseconds{whole});
  return event_time(digits <= 17 ? floor<milliseconds>(microseconds{whole})
                                 : floor<milliseconds>(nanoseconds{whole}));
}

}  // namespace

bool looks_like_date(std::string_view digits) noexcept {
  if (digits.size() != 8 && digits.size() != 12 && digits.size() != 14) return false;
  digit_reader in(digits);
  const int y = in.number(4);
  const int m = in.number(2);
  const int d = in.number(2);
  const int hour = digits.size() > 8 ? in.number(2) : 0;
  const int minute = digits.size() > 8 ? in.number(2) : 0;
  const int second = digits.size() > 12 ? in.number(2) : 0;
  return in.done() && y >= 1900 && y <= 2100 && date_of(y, m, d).ok() && hour < 24 && minute < 60 &&
         second < 61;
}

std::optional<minutes> parse_offset(std::string_view text) noexcept {
  digit_reader in(text);
  const auto east = take_zone(in);
  return in.done() ? east : std::nullopt;
}

std::optional<written_time> parse_written_time(std::string_view text) noexcept {
  if (text.size() < 5) return std::nullopt;
  if ((text[4] == '-' || text[4] == '/') && text.front() != '-') return parse_iso(text);
  if (text[2] == '/' || text.front() == '[') return parse_access_log(text);
  return text.size() > 8 && text[8] == 'T' ? parse_basic_iso(text) : std::nullopt;
}

std::optional<event_time> parse_event_time(std::string_view text) noexcept {
  if (const auto written = parse_written_time(text)) {
    if (!written->east && !written->is_date) return std::nullopt;
    return written->local - written->east.value_or(minutes(0));
  }
  return text.empty() ? std::nullopt : parse_unix(text);
}

}  // namespace everseen
