#include "everseen/serve/http/http_query.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/base/url_text.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/http/http_message.hpp"

// A parameter is taken out of the query when it is read, so what is left in the end was meant to have an
// effect and has none. Names that were asked for are remembered, for the hint.

namespace everseen::serve {

namespace {

[[noreturn]] void refuse_value(std::string_view name, std::string_view value, const std::string& wanted) {
  throw http_problem{400, "bad_parameter",
                     fmt::format("{} is '{}'; it must be {}", name, value.substr(0, 64), wanted)};
}

}  // namespace

std::string decoded_address(std::string_view text, bool plus_is_blank) {
  std::string coded(text);
  if (plus_is_blank) std::ranges::replace(coded, '+', ' ');
  auto plain = percent_decoded(coded);
  if (!plain)
    throw http_problem{400, "bad_request", "a % in the address is not followed by two hexadecimal digits"};
  return *std::move(plain);
}

query_parameters::query_parameters(std::string_view query) {
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    const std::string name = decoded_address(one.substr(0, equals), true);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1);
    if (!left_.emplace(name, decoded_address(value, true)).second)
      throw http_problem{400, "bad_parameter", fmt::format("{} is given twice", name)};
  }
}

std::optional<std::string> query_parameters::text(std::string_view name) {
  known_.emplace(name, true);
  const auto found = left_.find(name);
  if (found == left_.end()) return std::nullopt;
  std::string value = std::move(found->second);
  left_.erase(found);
  return value;
}

std::optional<std::int64_t> query_parameters::integer(std::string_view name, std::int64_t least,
                                                      std::int64_t most) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = read_integer(*value);
  if (!number || *number < least || *number > most)
    refuse_value(name, *value, fmt::format("a whole number from {} to {}", least, most));
  return number;
}

std::optional<std::uint64_t> query_parameters::count(std::string_view name, count_bounds within) {
  const auto value = text(name);
  return value ? std::optional(parse_count(name, *value, within)) : std::nullopt;
}

std::optional<double> query_parameters::rate(std::string_view name, rate_bounds within) {
  const auto value = text(name);
  return value ? std::optional(parse_rate(name, *value, within)) : std::nullopt;
}

std::optional<double> query_parameters::positive(std::string_view name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = read_decimal(*value);
  if (!number || *number <= 0) refuse_value(name, *value, "a number above 0");
  return number;
}

void query_parameters::must_be_among(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) known_.emplace(name, true);
  for (const auto& [name, value] : left_)
    if (!known_.contains(name)) refuse_unknown(name);
}

void query_parameters::must_be_all_taken() const {
  if (!left_.empty()) refuse_unknown(left_.begin()->first);
}

void query_parameters::refuse_unknown(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const auto& [each, is_known] : known_) names.push_back(each);
  const std::string_view meant = nearest(name, names);
  const std::string hint = !meant.empty()  ? fmt::format("did you mean {}?", meant)
                           : names.empty() ? "it takes none"
                                           : fmt::format("it takes {}", fmt::join(names, ", "));
  throw http_problem{400, "unknown_parameter",
                     fmt::format("there is no parameter '{}' here; {}", name.substr(0, 64), hint)};
}

}  // namespace everseen::serve
