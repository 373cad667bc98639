#include "everseen/core/funnel.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "everseen/core/bytes.hpp"
#include "everseen/core/error.hpp"

namespace everseen {

namespace {

constexpr std::array<std::pair<funnel_kind, std::string_view>, 4> names = {{
    {funnel_kind::bytes, "bytes"},
    {funnel_kind::chars, "chars"},
    {funnel_kind::int32, "int"},
    {funnel_kind::int64, "long"},
}};

[[noreturn]] void refuse(std::string_view key, std::string_view what_it_is_not) {
  throw parameter_error("the key '" + std::string(key) + "' is not " + std::string(what_it_is_not));
}

/// A UTF-8 sequence begins with `lead`: how many bytes follow, and the least code point that needs so many.
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

/// Takes the next code point off `rest`; nothing where that is not well-formed.
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

void append_utf16(std::string_view key, std::string& into) {
  for (std::string_view rest = key; !rest.empty();) {
    const auto point = next_code_point(rest);
    if (!point) refuse(key, "UTF-8");
    if (*point < 0x10000) {
      append(static_cast<std::uint16_t>(*point), into);
    } else {
      append(static_cast<std::uint16_t>(0xD800 + ((*point - 0x10000) >> 10)), into);
      append(static_cast<std::uint16_t>(0xDC00 + ((*point - 0x10000) & 0x3FF)), into);
    }
  }
}

template <typename Integer>
void append_number(std::string_view key, std::string_view type, std::string& into) {
  Integer value = 0;
  const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), value);
  if (fault != std::errc() || end != key.data() + key.size()) refuse(key, type);
  append(value, into);
}

}  // namespace

std::string_view to_string(funnel_kind how) noexcept {
  for (const auto& [each, name] : names)
    if (each == how) return name;
  return "invalid";
}

std::optional<funnel_kind> parse_funnel_kind(std::string_view name) noexcept {
  if (name == "string") return funnel_kind::bytes;
  for (const auto& [how, each] : names)
    if (each == name) return how;
  return std::nullopt;
}

void apply_funnel(funnel_kind how, std::string_view key, std::string& into) {
  into.clear();
  switch (how) {
    case funnel_kind::bytes:
      into = key;
      return;
    case funnel_kind::chars:
      return append_utf16(key, into);
    case funnel_kind::int32:
      return append_number<std::int32_t>(key, "a whole number of 32 bits", into);
    case funnel_kind::int64:
      return append_number<std::int64_t>(key, "a whole number of 64 bits", into);
  }
}

}  // namespace everseen
