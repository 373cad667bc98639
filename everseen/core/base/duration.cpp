#include "everseen/core/base/duration.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace everseen {

namespace {

struct unit {
  std::string_view name;
  std::int64_t ms;
};

/// By which durations are written, from long to short.
constexpr std::array<unit, 5> short_units = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

/// Also with an s at the end.
constexpr std::array<unit, 12> long_units = {{{"w", 604'800'000},
                                              {"week", 604'800'000},
                                              {"day", 86'400'000},
                                              {"hr", 3'600'000},
                                              {"hour", 3'600'000},
                                              {"min", 60'000},
                                              {"minute", 60'000},
                                              {"sec", 1'000},
                                              {"second", 1'000},
                                              {"msec", 1},
                                              {"milli", 1},
                                              {"millisecond", 1}}};

/// @return 0  there is no such unit
std::int64_t ms_of_unit(std::string_view name) noexcept {
  for (const unit& each : short_units)
    if (each.name == name) return each.ms;
  if (name.size() > 2 && name.ends_with('s')) name.remove_suffix(1);
  for (const unit& each : long_units)
    if (each.name == name) return each.ms;
  return 0;
}

constexpr bool is_digit_of_duration(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::string_view take_while(std::string_view& text, auto belongs) noexcept {
  const auto end = std::ranges::find_if_not(text, belongs);
  const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

}  // namespace

duration_read read_duration(std::string_view text) noexcept {
  using enum duration_fault;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t sum = 0;
  if (text.empty()) return {{}, no_duration};
  while (!text.empty()) {
    const std::string_view whole = take_while(text, is_digit_of_duration);
    const bool has_fraction = text.starts_with('.');
    if (has_fraction) text.remove_prefix(1);
    const std::string_view fraction =
        has_fraction ? take_while(text, is_digit_of_duration) : std::string_view();
    if (whole.empty() || (has_fraction && fraction.empty()) || fraction.size() > 9) return {{}, no_duration};
    if (text.starts_with(' ')) text.remove_prefix(1);
    const std::int64_t factor = ms_of_unit(take_while(text, [](char c) { return c >= 'a' && c <= 'z'; }));
    if (factor == 0) return {{}, no_unit};
    if (text.size() > 1 && text.front() == ' ') text.remove_prefix(1);
    std::int64_t number = 0;
    for (const char digit : whole) {
      const std::int64_t value = digit - '0';
      if (number > (most - value) / 10) return {{}, too_long};
      number = 10 * number + value;
    }
    std::int64_t parts = 0, scale = 1;
    for (const char digit : fraction) {
      parts = 10 * parts + (digit - '0');
      scale *= 10;
    }
    if (parts * factor % scale != 0) return {{}, no_duration};  // at most 10^9 weeks in ms: 6 * 10^17
    const std::int64_t rest = parts * factor / scale;
    if (rest > most - sum || number > (most - sum - rest) / factor) return {{}, too_long};
    sum += number * factor + rest;
  }
  return {std::chrono::milliseconds(sum), none};
}

std::string format_duration(std::chrono::milliseconds time) {
  std::string text;
  std::int64_t rest = time.count();
  for (const auto& [name, value] : short_units)
    if (rest / value > 0) {
      (text += std::to_string(rest / value)) += name;
      rest %= value;
    }
  return text.empty() ? "0s" : text;
}

}  // namespace everseen
