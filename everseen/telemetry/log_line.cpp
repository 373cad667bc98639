#include "everseen/telemetry/log_line.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace everseen::telemetry {

namespace {

/// Escapes what JSON requires and every byte that is not printable ASCII. Values are untrusted: they may not
/// be UTF-8 and could control the terminal.
std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\')
      (text += '\\') += c;
    else if (c >= ' ' && c <= '~')
      text += c;
    else
      fmt::format_to(std::back_inserter(text), "\\u{:04x}", static_cast<unsigned char>(c));
  }
  return text += '"';
}

bool is_plain(std::string_view value) {
  return !value.empty() && std::ranges::all_of(value, [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '=' && c != '\\';
  });
}

std::string text_of(const log_field& field, bool always_quoted) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return std::to_string(*number);
  const std::string_view value = std::get<std::string_view>(field.value);
  return always_quoted || !is_plain(value) ? quoted(value) : std::string(value);
}

}  // namespace

std::string log_line(log_format format, std::string_view event, std::span<const log_field> fields) {
  const bool json = format == log_format::json;
  std::string line = json                           ? fmt::format("\"event\":\"{}\"", event)
                     : format == log_format::logfmt ? fmt::format("event={}", event)
                                                    : std::string(event);
  for (const log_field& field : fields)
    line += json ? fmt::format(",\"{}\":{}", field.name, text_of(field, true))
                 : fmt::format(" {}={}", field.name, text_of(field, false));
  return line;
}

}  // namespace everseen::telemetry
