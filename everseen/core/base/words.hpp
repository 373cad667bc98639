#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

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

}  // namespace everseen
