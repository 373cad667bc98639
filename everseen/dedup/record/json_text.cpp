#include "everseen/dedup/record/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <system_error>

namespace everseen {

// The parser returns the text of numbers and literals unchecked, up to what follows them: 12a, nul.

namespace {

/// Its address distinguishes a null from the string "null".
constexpr std::string_view json_null = "null";

}  // namespace

bool is_json_null(std::string_view given) noexcept {
  return given.data() == json_null.data();
}

bool is_json_literal(std::string_view text) noexcept {
  return text == "true" || text == "false" || text == "null";
}

namespace {

/// Whether the text is a number by RFC 8259, of any length.
bool is_number(std::string_view text) noexcept {
  const auto accept = [&](std::string_view any) {
    const bool found = !text.empty() && any.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  const auto digits = [&] {
    const std::size_t before = text.size();
    while (accept("0123456789")) continue;
    return text.size() < before;
  };
  accept("-");
  if (!accept("0") && !digits()) return false;
  if (accept(".") && !digits()) return false;
  if (accept("eE")) {
    accept("+-");
    if (!digits()) return false;
  }
  return text.empty();
}

constexpr std::string_view blanks = " \r\t\n";

std::string_view without_blanks(std::string_view token) noexcept {
  const std::size_t last = token.find_last_not_of(blanks);
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

bool is_json_end(simdjson::ondemand::document& document) noexcept {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

bool is_json_scalar(simdjson::ondemand::document& document, std::string_view record) {
  std::string_view token;
  if (document.get_string().get(token) == simdjson::SUCCESS) return is_json_end(document);
  token = without_blanks(record.substr(std::min(record.find_first_not_of(blanks), record.size())));
  return is_json_literal(token) || is_number(token);
}

namespace {

/// The code unit of an escape \uXXXX at the beginning of the text.
std::optional<unsigned> escaped_unit(std::string_view text) noexcept {
  unsigned unit = 0;
  if (!text.starts_with("\\u") || text.size() < 6) return std::nullopt;
  const auto [end, bad] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return bad == std::errc{} && end == text.data() + 6 ? std::optional(unit) : std::nullopt;
}

/// Whether an escape names one half of a surrogate pair, without the other half next to it.
bool has_half_surrogate(std::string_view text) noexcept {
  for (std::size_t i = 0; (i = text.find('\\', i)) != std::string_view::npos; i += 2) {
    const unsigned unit = escaped_unit(text.substr(i)).value_or(0);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const unsigned next = escaped_unit(text.substr(std::min(i + 6, text.size()))).value_or(0);
    if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) return true;
    i += 10;  // behind the pair, with the two of the loop
  }
  return false;
}

/// Whether a document that is printed over several lines begins so.
bool begins_json(std::string_view record) noexcept {
  constexpr std::string_view beginnings[] = {"{", "[", "[{"};
  return std::ranges::find(beginnings, without_blanks(record)) != std::end(beginnings);
}

}  // namespace

record_fault json_fault(simdjson::error_code code, std::string_view record) noexcept {
  switch (code) {
    case simdjson::NO_SUCH_FIELD:
    case simdjson::INDEX_OUT_OF_BOUNDS:
      return record_fault::no_key;
    case simdjson::UTF8_ERROR:
      return record_fault::not_utf8;
    default:
      if (record.starts_with("\xef\xbb\xbf")) return record_fault::byte_order_mark;
      if (begins_json(record)) return record_fault::part_of_json;
      return has_half_surrogate(record) ? record_fault::half_surrogate : record_fault::not_json;
  }
}

std::optional<std::string_view> json_text(simdjson::ondemand::value value) {
  simdjson::ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return std::nullopt;
  std::string_view text;
  switch (type) {
    case simdjson::ondemand::json_type::string:
      if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
      return text;
    case simdjson::ondemand::json_type::array:
    case simdjson::ondemand::json_type::object:
      if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) return std::nullopt;
      return text;
    default:
      break;
  }
  text = without_blanks(value.raw_json_token());
  if (text == json_null) return json_null;
  if (!is_json_literal(text) && !is_number(text)) return std::nullopt;
  return text;
}

}  // namespace everseen
