/// Numbers and bytes as digits, for formats and protocols. What people type is read by everseen/text.

#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace everseen {

/// Parses the whole text: no spaces, no plus sign, nothing after the number.
/// @return nothing if it is not a number, or too large
template <std::integral Number = std::uint64_t>
[[nodiscard]] std::optional<Number> read_number(std::string_view text, int base = 10) noexcept {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, base);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

/// Two digits per byte.
[[nodiscard]] inline std::string hex_of(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// 16 digits.
[[nodiscard]] inline std::string hex_of(std::uint64_t number) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
  return text;
}

/// Words of commands and settings, as Redis reads them.

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
