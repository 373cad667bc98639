#include "everseen/dedup/record/key_form.hpp"

#include <algorithm>
#include <array>

#include <utf8proc.h>

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

constexpr bool is_ascii(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0x80U) == 0;
}

/// Appends a character of UTF-8 that the key begins with, folded; a byte that begins none stays as it is.
/// @return the bytes of the key that it takes
std::size_t fold_character(std::string_view key, std::string& text) {
  utf8proc_int32_t character = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(key.data()),
                                       static_cast<utf8proc_ssize_t>(key.size()), &character);
  if (length <= 0) {
    text += key.front();
    return 1;
  }
  std::array<utf8proc_int32_t, 8> folded{};  // Unicode's longest folding has 3
  int boundary = 0;                          // of no use here
  const auto count =
      utf8proc_decompose_char(character, folded.data(), folded.size(), UTF8PROC_CASEFOLD, &boundary);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(folded[static_cast<std::size_t>(i)], bytes.data());
    text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
  }
  return static_cast<std::size_t>(length);
}

void fold(std::string_view key, std::string& text) {
  text.clear();
  while (!key.empty()) {
    const auto other = std::ranges::find_if_not(key, is_ascii);
    const auto plain = static_cast<std::size_t>(other - key.begin());
    std::ranges::transform(key.substr(0, plain), std::back_inserter(text), small_letter);
    key.remove_prefix(plain);
    if (!key.empty()) key.remove_prefix(fold_character(key, text));
  }
}

}  // namespace

std::string_view key_form::of(std::string_view key, std::string& text) const {
  if (trim) key = trimmed(key);
  key = without_fields(key, skip_fields);
  key.remove_prefix(bytes_of(key, skip_chars));
  if (check_chars) key = key.substr(0, bytes_of(key, *check_chars));
  if (fold_case) {
    fold(key, text);
    return text;
  }
  if (!ignore_case) return key;
  text.resize(key.size());
  std::ranges::transform(key, text.begin(), small_letter);
  return text;
}

}  // namespace everseen
