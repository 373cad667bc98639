#include "everseen/core/spec/time_text.hpp"

#include <chrono>

namespace everseen {

namespace {

char* put(char* out, unsigned value, int digits, char after) noexcept {
  for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  out[digits] = after;
  return out + digits + 1;
}

}  // namespace

char* write_event_time(event_time time, char* out) noexcept {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto rest = static_cast<unsigned>((time - day).count());
  out = put(out, static_cast<unsigned>(static_cast<int>(date.year())), 4, '-');
  out = put(out, static_cast<unsigned>(date.month()), 2, '-');
  out = put(out, static_cast<unsigned>(date.day()), 2, 'T');
  out = put(out, rest / 3'600'000, 2, ':');
  out = put(out, rest / 60'000 % 60, 2, ':');
  out = put(out, rest / 1'000 % 60, 2, '.');
  return put(out, rest % 1'000, 3, 'Z');
}

std::string format_event_time(event_time time) {
  using namespace std::chrono;
  constexpr event_time first = sys_days(year(0) / January / 1);
  constexpr event_time end = sys_days(year(9999) / December / 31) + days(1);
  if (time < first || time >= end) return std::to_string(time.time_since_epoch().count()) + " ms";
  std::string text(event_time_chars, ' ');
  write_event_time(time, text.data());
  return text;
}

}  // namespace everseen
