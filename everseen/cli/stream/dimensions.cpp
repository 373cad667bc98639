#include "everseen/cli/stream/dimensions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// Takes the text before the first `mark` off the front, unless a field begins before the mark.
std::optional<std::string_view> take_until(char mark, std::string_view& text) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos || text.find('/') < at) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + 1);
  return before;
}

std::chrono::milliseconds parse_stretch(std::string_view text) {
  if (text == "minute") return std::chrono::minutes(1);
  if (text == "hour") return std::chrono::hours(1);
  if (text == "day") return std::chrono::hours(24);
  return parse_duration("--count", text);
}

dimension parse_dimension(std::string_view text, const field_words& words) {
  dimension result;
  const auto name = take_until('=', text);
  if (const auto stretch = take_until(':', text)) result.truncation = parse_stretch(*stretch);
  result.field = parse_field("--count", text, words);
  result.name = name.value_or(text.substr(text.rfind('/') + 1));
  if (result.name == "count")
    throw parameter_error(
        "--count has a dimension named count, as the column of the counts is; name it, as in n=/count");
  if (result.name.empty())
    throw parameter_error(fmt::format("--count {} has no name; give one, as in site={}", text, text));
  return result;
}

}  // namespace

std::vector<std::string> names_in(std::string_view line, char delimiter) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t end = std::min(line.find(delimiter, from), line.size());
    std::string_view name = line.substr(from, end - from);
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.emplace_back(name);
    from = end + 1;
  }
  return names;
}

namespace {

unsigned number_of(std::string_view what, std::string_view name, const field_words& words) {
  const auto& names = *words.names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<unsigned>(found - names.begin()) + 1;
  if (names.size() == 1 && names.front().empty())
    throw parameter_error(
        fmt::format("{} {}: the input has no first line that names its fields", what, name));
  const bool is_one = names.size() == 1 && names.front().find_first_of(",;|\t") != std::string::npos;
  throw parameter_error(fmt::format(
      "{} {}: the first line names no such field; it names {}{}", what, name, fmt::join(names, ", "),
      is_one ? "; that is one field, so --delimiter is probably another, as in --delimiter ','" : ""));
}

}  // namespace

field_rule parse_field(std::string_view what, std::string_view text, const field_words& words) {
  if (text.starts_with('/')) {
    field_rule field{field_rule::kind::json, 0, words.delimiter, std::string(text)};
    validate(field);
    return field;
  }
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number && !words.names)
    throw parameter_error(
        fmt::format("{} {} is no field; give a JSON pointer, as in /site, the number of a field, as in 3, or "
                    "--header if the first line of the input names the fields",
                    what, text));
  const auto number =
      is_number ? static_cast<unsigned>(parse_count(what, text, {1, 10'000})) : number_of(what, text, words);
  return {field_rule::kind::delimited, number, words.delimiter, {}};
}

dimension_set parse_dimensions(std::string_view text, const field_words& words) {
  dimension_set set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    dimension next = parse_dimension(text.substr(0, comma), words);
    if (std::any_of(set.begin(), set.end(), [&](const auto& d) { return d.name == next.name; }))
      throw parameter_error(fmt::format("--count has two dimensions named {}; name them, as in first={}",
                                        next.name, text.substr(0, comma)));
    set.push_back(std::move(next));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return set;
}

}  // namespace everseen::cli
