#include "everseen/core/base/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen {

namespace {

struct range {
  char32_t first;
  char32_t last;
};

/// Control characters, and characters that are invisible or change the order of others: also what Unicode
/// calls Default_Ignorable_Code_Point, and all blanks but U+0020.
constexpr std::array<range, 25> unprintable = {
    {{0x0000, 0x001F},   {0x007F, 0x00A0},   {0x00AD, 0x00AD},   {0x034F, 0x034F},  {0x061C, 0x061C},
     {0x115F, 0x1160},   {0x1680, 0x1680},   {0x17B4, 0x17B5},   {0x180B, 0x180F},  {0x2000, 0x200F},
     {0x2028, 0x202F},   {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000},  {0x3164, 0x3164},
     {0xD800, 0xF8FF},  // surrogates, private use
     {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},  {0xFFFE, 0xFFFF},
     {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0x1FFFE, 0x1FFFF}, {0x2FFFE, 0x2FFFF}}};
/// The planes after it have no printable characters.
constexpr char32_t last_printable = 0x3FFFD;

bool is_printable(char32_t character) noexcept {
  return character <= last_printable && std::ranges::none_of(unprintable, [&](const range& r) {
           return r.first <= character && character <= r.last;
         });
}

/// The length of the UTF-8 character that begins the text, if it is a printable one; else 0.
/// @pre the text is not empty
std::size_t printable_length(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return is_printable(first) ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  char32_t character = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return 0;
    character = character << 6 | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  return character >= least[length] && is_printable(character) ? length : 0;
}

void append_hex(std::string& text, char byte) {
  const auto value = static_cast<std::uint8_t>(byte);
  text += "\\x" + hex_of(std::span(&value, 1));
}

constexpr std::array<std::pair<char, char>, 5> escapes = {
    {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'"', '"'}, {'\\', '\\'}}};

std::string between_quotes(std::string_view name) {
  std::string text = "\"";
  while (!name.empty()) {
    const auto escape = std::ranges::find(escapes, name.front(), &std::pair<char, char>::second);
    std::size_t length = 1;
    if (escape != escapes.end())
      text += {'\\', escape->first};
    else if (const std::size_t printable = printable_length(name); printable > 0)
      text += name.substr(0, length = printable);
    else
      append_hex(text, name.front());
    name.remove_prefix(length);
  }
  return text += '"';
}

bool is_text(std::string_view name) noexcept {
  if (name.empty() || name.front() == '"' || name.front() == '-' || name.front() == ' ' || name.back() == ' ')
    return false;
  while (!name.empty()) {
    const std::size_t length = printable_length(name);
    if (length == 0) return false;
    name.remove_prefix(length);
  }
  return true;
}

[[noreturn]] void refuse(std::string_view text) {
  throw parameter_error(
      "the name " + without_controls(text.substr(0, 64)) +
      " begins with a double quote, and so must end with one, with \\n, \\r, \\t, \\\", \\\\ "
      "or \\xHH for what a terminal does not show, and for quotes inside");
}

/// Reads the escape after a backslash and removes it.
std::optional<char> take_escape(std::string_view& rest) noexcept {
  if (rest.empty()) return std::nullopt;
  const char kind = rest.front();
  const std::size_t length = kind == 'x' ? 3 : 1;
  if (rest.size() < length) return std::nullopt;
  std::optional<char> byte;
  if (kind == 'x') {
    if (const auto value = read_number<std::uint8_t>(rest.substr(1, 2), 16)) byte = static_cast<char>(*value);
  } else if (const auto known = std::ranges::find(escapes, kind, &std::pair<char, char>::first);
             known != escapes.end()) {
    byte = known->second;
  }
  rest.remove_prefix(length);
  return byte;
}

}  // namespace

std::string shown_name(std::string_view name) {
  return is_text(name) ? std::string(name) : between_quotes(name);
}

std::string typed_name(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  std::string name;
  std::string_view rest = text.substr(1);
  while (!rest.empty() && rest.front() != '"') {
    const char c = rest.front();
    rest.remove_prefix(1);
    const auto byte = c == '\\' ? take_escape(rest) : std::optional(c);
    if (!byte) refuse(text);
    name += *byte;
  }
  if (rest != "\"") refuse(text);
  return name;
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t shown_bytes = 64;
  if (name.size() > max_name_bytes)
    return quoted_name(name.substr(0, shown_bytes)) + "... (" + std::to_string(name.size()) + " bytes)";
  if (!is_text(name)) return between_quotes(name);
  std::string quoted(1, '\'');
  quoted.append(name).push_back('\'');
  return quoted;
}

std::string name_argument(std::string_view name) {
  const std::string text = shown_name(name);
  const auto means_something = [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && (c < '0' || c > '9') && (c < 'a' || c > 'z') &&
           (c < 'A' || c > 'Z') && std::string_view("._-/:@%+=,").find(c) == std::string_view::npos;
  };
  if (std::ranges::none_of(text, means_something)) return text;
  std::string argument = "'";
  for (const char c : text) argument += c == '\'' ? "'\\''" : std::string(1, c);
  return argument += '\'';
}

std::string without_controls(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0)
      append_hex(shown, text.front());
    else
      shown += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

namespace {

/// Edit distance with swaps of neighbours (optimal string alignment distance).
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

/// Dashes before an option are never mistyped letters.
std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_word = 64;  // longer input is no typing error, and the table would be large
  constexpr std::size_t most_slips = 2, letters_for_two = 8;
  std::string_view best;
  std::size_t fewest = most_slips + 1;
  if (word.size() > longest_word) return best;
  word = without_dashes(word);
  for (const std::string_view candidate : candidates) {
    const std::string_view letters = without_dashes(candidate);
    const std::size_t longer = std::max(word.size(), letters.size());
    if (longer - std::min(word.size(), letters.size()) >= fewest)
      continue;  // which is at least as many slips
    const std::size_t count = slips(word, letters);
    if (count < fewest && 2 * count < letters.size() && (count < 2 || letters.size() >= letters_for_two)) {
      fewest = count;
      best = candidate;
    }
  }
  return best;
}

}  // namespace everseen
