#include "everseen/core/base/percent.hpp"

#include <cstdint>

#include "everseen/core/base/digits.hpp"

namespace everseen {

namespace {

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

}  // namespace

std::string percent_encoded(std::string_view bytes, std::string_view plain) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c) || plain.find(c) != std::string_view::npos)
      text += c;
    else
      text += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const std::string_view two = text.substr(i + 1, 2);
    const auto byte = read_number<std::uint8_t>(two, 16);
    if (two.size() != 2 || !byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
    i += 2;
  }
  return bytes;
}

}  // namespace everseen
