#include "everseen/core/hash/funnel.hpp"

#include <array>
#include <utility>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen {

namespace {

constexpr std::array<std::pair<funnel_kind, std::string_view>, 4> funnel_names = {{
    {funnel_kind::bytes, "bytes"},
    {funnel_kind::chars, "chars"},
    {funnel_kind::int32, "int"},
    {funnel_kind::int64, "long"},
}};

/// A UTF-8 sequence by its first byte: the number of following bytes, and the least code point of that
/// length.
struct sequence {
  unsigned following;
  char32_t least;
  char32_t bits_of_lead;
};

std::optional<sequence> begun_by(unsigned char lead) noexcept {
  if (lead < 0x80) return sequence{0, 0, lead};
  if (lead >= 0xC0 && lead < 0xE0) return sequence{1, 0x80, lead & 0x1FU};
  if (lead >= 0xE0 && lead < 0xF0) return sequence{2, 0x800, lead & 0x0FU};
  if (lead >= 0xF0 && lead < 0xF8) return sequence{3, 0x10000, lead & 0x07U};
  return std::nullopt;
}

/// Removes the next code point from `rest`; nothing if it is malformed.
std::optional<char32_t> next_code_point(std::string_view& rest) noexcept {
  const auto begun = begun_by(static_cast<unsigned char>(rest.front()));
  if (!begun || rest.size() <= begun->following) return std::nullopt;
  char32_t point = begun->bits_of_lead;
  for (unsigned i = 1; i <= begun->following; ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    if ((byte & 0xC0) != 0x80) return std::nullopt;
    point = (point << 6) | (byte & 0x3FU);
  }
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  if (point < begun->least || point > 0x10FFFF || surrogate) return std::nullopt;
  rest.remove_prefix(begun->following + 1);
  return point;
}

template <typename Integer>
void append(Integer value, std::string& into) {
  std::array<char, sizeof value> bytes;
  store_le(bytes.data(), value);
  into.append(bytes.data(), bytes.size());
}

bool append_utf16(std::string_view key, std::string& into) {
  for (std::string_view rest = key; !rest.empty();) {
    const auto point = next_code_point(rest);
    if (!point) return false;
    if (*point < 0x10000) {
      append(static_cast<std::uint16_t>(*point), into);
    } else {
      append(static_cast<std::uint16_t>(0xD800 + ((*point - 0x10000) >> 10)), into);
      append(static_cast<std::uint16_t>(0xDC00 + ((*point - 0x10000) & 0x3FF)), into);
    }
  }
  return true;
}

template <typename Integer>
bool append_number(std::string_view key, std::string& into) {
  const auto value = read_number<Integer>(key);
  if (value) append(*value, into);
  return value.has_value();
}

std::string_view taken_by(funnel_kind kind) noexcept {
  if (kind == funnel_kind::chars) return "UTF-8";
  return kind == funnel_kind::int32 ? "a whole number of 32 bits" : "a whole number of 64 bits";
}

}  // namespace

std::string_view to_string(funnel_kind kind) noexcept {
  for (const auto& [each, name] : funnel_names)
    if (each == kind) return name;
  return "invalid";
}

std::optional<funnel_kind> parse_funnel_kind(std::string_view name) noexcept {
  if (name == "string" || name == "string:utf-8") return funnel_kind::bytes;
  if (name == "string:utf-16le") return funnel_kind::chars;
  for (const auto& [kind, each] : funnel_names)
    if (each == name) return kind;
  return std::nullopt;
}

bool try_funnel(funnel_kind kind, std::string_view key, std::string& into) {
  into.clear();
  switch (kind) {
    case funnel_kind::bytes:
      break;
    case funnel_kind::chars:
      return append_utf16(key, into);
    case funnel_kind::int32:
      return append_number<std::int32_t>(key, into);
    case funnel_kind::int64:
      return append_number<std::int64_t>(key, into);
  }
  into = key;
  return true;
}

std::string funnel_refusal(funnel_kind kind, std::string_view key) {
  constexpr std::size_t longest_shown = 60;
  std::string shown(key.substr(0, longest_shown));
  if (key.size() > longest_shown) shown += "...";
  return "the key '" + shown + "' is not " + std::string(taken_by(kind));
}

void apply_funnel(funnel_kind kind, std::string_view key, std::string& into) {
  if (!try_funnel(kind, key, into)) throw parameter_error(funnel_refusal(kind, key));
}

}  // namespace everseen
