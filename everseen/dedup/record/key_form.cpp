#include "everseen/dedup/record/key_form.hpp"

#include <algorithm>

namespace everseen {

namespace {

constexpr std::string_view spaces_and_tabs = " \t";
constexpr std::string_view ends = " \t\r";

std::string_view trimmed(std::string_view key) noexcept {
  key.remove_prefix(std::min(key.find_first_not_of(ends), key.size()));
  return key.substr(0, key.find_last_not_of(ends) + 1);  // npos + 1 is 0
}

std::string_view without_fields(std::string_view key, std::size_t count) noexcept {
  for (; count > 0 && !key.empty(); --count) {
    key.remove_prefix(std::min(key.find_first_not_of(spaces_and_tabs), key.size()));
    key.remove_prefix(std::min(key.find_first_of(spaces_and_tabs), key.size()));
  }
  return key;
}

constexpr bool continues_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

/// The bytes of this many characters. A byte that continues none is a character of its own at the beginning.
std::size_t bytes_of(std::string_view key, std::size_t characters) noexcept {
  std::size_t end = 0;
  for (; characters > 0 && end < key.size(); --characters) {
    ++end;
    while (end < key.size() && continues_character(key[end])) ++end;
  }
  return end;
}

constexpr char small_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string_view key_form::of(std::string_view key, std::string& text) const {
  if (trim) key = trimmed(key);
  key = without_fields(key, skip_fields);
  key.remove_prefix(bytes_of(key, skip_chars));
  if (check_chars) key = key.substr(0, bytes_of(key, *check_chars));
  if (!ignore_case) return key;
  text.resize(key.size());
  std::ranges::transform(key, text.begin(), small_letter);
  return text;
}

}  // namespace everseen
