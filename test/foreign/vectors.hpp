#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "test/support/places.hpp"

/// Results of the original programs, recorded in test/foreign/data. Each file names the version that ran.
namespace everseen::test {

inline nlohmann::json vectors(const std::string& name) {
  return nlohmann::json::parse(
      std::ifstream(test::source_directory() + "/test/foreign/data/" + name + ".json"));
}

inline std::vector<std::byte> from_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::byte> bytes;
  unsigned collected = 0;
  unsigned bits = 0;
  for (const char each : text.substr(0, text.find('='))) {
    collected = (collected << 6) | static_cast<unsigned>(digits.find(each));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::byte>(collected >> bits & 0xFF));
  }
  return bytes;
}

}  // namespace everseen::test
