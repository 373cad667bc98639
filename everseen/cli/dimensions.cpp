#include "everseen/cli/dimensions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "everseen/cli/numbers.hpp"
#include "everseen/core/error.hpp"

namespace everseen::cli {

namespace {

/// What stands before the first `mark` of a text, unless a field has begun before it; it is taken off.
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

dimension parse_dimension(std::string_view text, char delimiter) {
  dimension result;
  const auto name = take_until('=', text);
  if (const auto stretch = take_until(':', text)) result.truncation = parse_stretch(*stretch);
  result.field = parse_field("--count", text, delimiter);
  result.name = name.value_or(text.substr(text.rfind('/') + 1));
  if (result.name == "count")
    throw parameter_error(
        "--count has a dimension named count, as the column of the counts is; name it, as in n=/count");
  if (result.name.empty())
    throw parameter_error(fmt::format("--count {} has no name; give one, as in site={}", text, text));
  return result;
}

std::string to_text(const field_rule& field) {
  return field.how == field_rule::kind::json ? field.pointer
                                             : fmt::format("{}{}", field.number, field.delimiter);
}

}  // namespace

field_rule parse_field(std::string_view what, std::string_view text, char delimiter) {
  field_rule field{field_rule::kind::json, 0, delimiter, std::string(text)};
  if (!text.starts_with('/')) {
    if (text.empty() || text.front() < '0' || text.front() > '9')
      throw parameter_error(fmt::format(
          "{} {} is no field; give a JSON pointer, as in /site, or the number of a field, as in 3", what,
          text));
    field = {field_rule::kind::delimited,
             static_cast<unsigned>(parse_count(what, text, {1, 10'000})),
             delimiter,
             {}};
  }
  validate(field);
  return field;
}

dimension_set parse_dimensions(std::string_view text, char delimiter) {
  dimension_set set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    dimension next = parse_dimension(text.substr(0, comma), delimiter);
    if (std::any_of(set.begin(), set.end(), [&](const auto& d) { return d.name == next.name; }))
      throw parameter_error(fmt::format("--count has two dimensions named {}; name them, as in first={}",
                                        next.name, text.substr(0, comma)));
    set.push_back(std::move(next));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return set;
}

std::string describe_job(const event_shape& shape) {
  nlohmann::ordered_json text;
  text["key"] = nlohmann::json::array();
  for (const field_rule& field : shape.key) text["key"].push_back(to_text(field));
  text["time"] = shape.time ? nlohmann::ordered_json(to_text(*shape.time)) : nlohmann::ordered_json();
  text["counts"] = nlohmann::json::array();
  for (const dimension_set& set : shape.counts) {
    auto& written = text["counts"].emplace_back(nlohmann::json::array());
    for (const dimension& d : set) {
      auto& one = written.emplace_back(nlohmann::ordered_json{{"name", d.name}, {"field", to_text(d.field)}});
      if (d.truncation) one["ms"] = d.truncation->count();
    }
  }
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::vector<std::string>> described_sets(std::string_view description) {
  try {
    std::vector<std::vector<std::string>> sets;
    const auto text = nlohmann::json::parse(description);
    for (const auto& set : text.at("counts")) {
      auto& names = sets.emplace_back();
      for (const auto& d : set) names.push_back(d.at("name").get<std::string>());
    }
    return sets;
  } catch (const nlohmann::json::exception&) {
    throw format_error(
        "the description of the job is none that everseen stream wrote; its counts cannot be told apart");
  }
}

}  // namespace everseen::cli
