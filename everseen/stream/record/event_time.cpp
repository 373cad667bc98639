#include "everseen/stream/record/event_time.hpp"

#include <algorithm>
#include <charconv>

namespace everseen {

namespace {

/// Reads digits from the front of a text.
class digit_reader {
 public:
  explicit digit_reader(std::string_view text) noexcept : rest_(text) {}

  /// Reads exactly `digits` digits; sets failed() otherwise.
  int number(std::size_t digits) noexcept {
    int value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + std::min(digits, rest_.size()), value);
    if (error != std::errc{} || end != rest_.data() + digits || rest_.front() == '-') failed_ = true;
    rest_.remove_prefix(std::min(digits, rest_.size()));
    return value;
  }
  bool accept(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) noexcept { failed_ |= !accept(c); }

  /// Milliseconds of a fraction such as 5 or 123456; digits after the third are dropped.
  int fraction_ms() noexcept {
    int value = 0;
    int digits = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1), ++digits)
      if (digits < 3) value = 10 * value + (rest_.front() - '0');
    failed_ |= digits == 0;
    for (; digits < 3; ++digits) value *= 10;
    return value;
  }

  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  [[nodiscard]] bool done() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

std::optional<event_time> parse_rfc3339(std::string_view text) noexcept {
  using namespace std::chrono;
  digit_reader in(text);
  const int y = in.number(4);
  in.expect('-');
  const int m = in.number(2);
  in.expect('-');
  const int d = in.number(2);
  if (!in.accept('T') && !in.accept('t')) in.expect(' ');
  const int hour = in.number(2);
  in.expect(':');
  const int minute = in.number(2);
  in.expect(':');
  const int second = in.number(2);
  const int ms = in.accept('.') ? in.fraction_ms() : 0;
  int east = 0;  // of Greenwich, in minutes
  if (!in.accept('Z') && !in.accept('z')) {
    const bool west = in.accept('-');
    if (!west) in.expect('+');
    const int zone_hours = in.number(2);
    in.expect(':');
    const int zone_minutes = in.number(2);
    if (zone_hours > 23 || zone_minutes > 59) return std::nullopt;
    east = (60 * zone_hours + zone_minutes) * (west ? -1 : 1);
  }
  const year_month_day date{year{y}, month{static_cast<unsigned>(m)}, day{static_cast<unsigned>(d)}};
  if (!in.done() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return sys_days{date} + hours{hour} + minutes{minute - east} + seconds{second} + milliseconds{ms};
}

std::optional<event_time> parse_unix(std::string_view text) noexcept {
  using namespace std::chrono;
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{}) return std::nullopt;
  const auto digits = static_cast<std::size_t>(end - text.data()) - (text.front() == '-' ? 1 : 0);
  digit_reader in(text.substr(static_cast<std::size_t>(end - text.data())));
  if (digits <= 11) {
    const int ms = in.accept('.') ? in.fraction_ms() : 0;
    if (!in.done()) return std::nullopt;
    return event_time(seconds{whole} + milliseconds{text.front() == '-' ? -ms : ms});
  }
  if (digits > 14 || !in.done()) return std::nullopt;
  return event_time(milliseconds{whole});
}

}  // namespace

std::optional<event_time> parse_event_time(std::string_view text) noexcept {
  if (text.size() > 4 && text[4] == '-' && text.front() != '-') return parse_rfc3339(text);
  return text.empty() ? std::nullopt : parse_unix(text);
}

}  // namespace everseen
