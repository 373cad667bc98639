#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace everseen::test {

/// Any bytes as text, for programs that read one key a line.
inline std::string base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t offset = 0; offset < text.size(); offset += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i)
      three = three << 8 | (offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += offset + i > text.size() ? '=' : digits[three >> (18 - 6 * i) & 63];
  }
  return out;
}

}  // namespace everseen::test
