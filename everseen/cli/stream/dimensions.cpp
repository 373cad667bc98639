#include "everseen/cli/stream/dimensions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"

namespace everseen::cli {

namespace {

/// Takes the text before the first `mark` off the front, unless a field begins before the mark.
std::optional<std::string_view> take_until(char mark, std::string_view& text) {
  const std::size_t position = text.find(mark);
  if (position == std::string_view::npos || text.find('/') < position) return std::nullopt;
  const std::string_view before = text.substr(0, position);
  text.remove_prefix(position + 1);
  return before;
}

std::chrono::milliseconds parse_interval(std::string_view text) {
  if (text == "minute") return std::chrono::minutes(1);
  if (text == "hour") return std::chrono::hours(1);
  if (text == "day") return std::chrono::hours(24);
  return parse_duration("--count", text);
}

dimension parse_dimension(std::string_view text, const field_words& fields) {
  dimension result;
  const auto name = take_until('=', text);
  if (const auto interval = take_until(':', text)) result.truncation = parse_interval(*interval);
  result.field = parse_field({"--count", std::string(text)}, fields);
  result.name = name.value_or(text.substr(text.rfind('/') + 1));
  if (result.name == "count")
    throw parameter_error(
        "--count has a dimension named count, as the column of the counts is; name it, as in n=/count");
  if (result.name.empty())
    throw parameter_error(fmt::format("--count {} has no name; give one, as in site={}", text, text));
  return result;
}

}  // namespace

dimension_set parse_dimensions(std::string_view text, const field_words& fields) {
  dimension_set set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    dimension next = parse_dimension(text.substr(0, comma), fields);
    if (std::any_of(set.begin(), set.end(), [&](const auto& d) { return d.name == next.name; }))
      throw parameter_error(fmt::format("--count has two dimensions named {}; name them, as in first={}",
                                        next.name, text.substr(0, comma)));
    set.push_back(std::move(next));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return set;
}

}  // namespace everseen::cli
