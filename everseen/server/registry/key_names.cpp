#include "everseen/server/registry/key_names.hpp"

#include <charconv>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::server {

namespace {

constexpr std::string_view escape = "esc.";
constexpr std::size_t longest_name = 100;

constexpr bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_valid_name(std::string_view key) {
  if (key.empty() || key.size() > longest_name || key.front() == '.' || key.front() == '-') return false;
  for (const char c : key)
    if (!is_plain(c) && c != '.') return false;
  return true;
}

std::string escaped(std::string_view key) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name(escape);
  for (const char c : key) {
    if (is_plain(c)) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += '.';
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name;
}

std::optional<std::string> unescaped(std::string_view name) {
  std::string key;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '.') {
      key += name[i];
      continue;
    }
    if (name.size() - i < 3) return std::nullopt;
    unsigned byte = 0;
    const char* const end = name.data() + i + 3;
    if (std::from_chars(name.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
    key += static_cast<char>(byte);
    i += 2;
  }
  return key;
}

}  // namespace

std::optional<std::string> filter_name_of(std::string_view key) {
  if (is_valid_name(key) && !key.starts_with(escape)) return std::string(key);
  std::string name = escaped(key);
  if (name.size() > longest_name) return std::nullopt;
  return name;
}

std::string required_name_of(std::string_view key) {
  auto name = filter_name_of(key);
  if (!name)
    throw parameter_error(
        "the key is too long for the name of a filter: 100 letters and digits, and each other byte counts "
        "for "
        "three");
  return *std::move(name);
}

std::optional<std::string> key_of(std::string_view filter_name) {
  if (!filter_name.starts_with(escape)) return std::string(filter_name);
  auto key = unescaped(filter_name.substr(escape.size()));
  if (key && filter_name_of(*key) != filter_name) return std::nullopt;
  return key;
}

}  // namespace everseen::server
