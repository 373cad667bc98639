#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "everseen/core/base/digits.hpp"

/// Words of commands and settings, as Redis reads them.
namespace everseen {

/// Whether two words are equal, ignoring case.
[[nodiscard]] inline bool is_word(std::string_view word, std::string_view capitals) noexcept {
  return std::ranges::equal(word, capitals, [](char letter, char capital) {
    return letter == capital || (letter >= 'a' && letter <= 'z' && letter - 'a' + 'A' == capital);
  });
}

/// A decimal fraction, with an exponent or without; all of the word.    @return nothing  also for inf and nan
[[nodiscard]] inline std::optional<double> read_decimal(std::string_view word) noexcept {
  double number = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  return error == std::errc() && end == last && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Bytes: 100, 100b, 1k (1000), 1kb (1024), m, mb, g, gb; letters of either case.
[[nodiscard]] inline std::optional<std::int64_t> read_memory_size(std::string_view word) noexcept {
  struct unit {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr unit units[] = {{"", 1},         {"B", 1},        {"K", 1000},         {"KB", 1 << 10},
                            {"M", 1000'000}, {"MB", 1 << 20}, {"G", 1000'000'000}, {"GB", 1 << 30}};
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto number = read_number<std::int64_t>(word.substr(0, digits));
  for (const unit& each : units)
    if (number && is_word(word.substr(digits), each.name)) {
      if (*number > std::numeric_limits<std::int64_t>::max() / each.bytes) return std::nullopt;
      return *number * each.bytes;
    }
  return std::nullopt;
}

}  // namespace everseen
