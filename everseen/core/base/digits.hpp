#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Numbers and bytes as digits, for formats and protocols. What people type is read by everseen/text.
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

}  // namespace everseen
