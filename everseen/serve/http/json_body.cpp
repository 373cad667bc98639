#include "everseen/serve/http/json_body.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <simdjson.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/serve/http/http_message.hpp"

namespace everseen::serve {

namespace {

using simdjson::dom::element;

/// No valid body is nested more than twice.
constexpr std::size_t deepest = 16;
constexpr std::size_t most_fields = 64;
constexpr std::int64_t longest_s = std::int64_t{36'500} * 24 * 60 * 60;

std::string_view kind_of(const element& e) noexcept {
  switch (e.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a text";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

[[noreturn]] void refuse_field(std::string_view name, std::string_view wanted) {
  throw http_problem{400, "bad_parameter", fmt::format("{} must be {}", name, wanted)};
}

/// Larger bodies are scanned before they are parsed.
constexpr std::size_t small_body = 1 << 20;

/// Values in a text that may be JSON: the parser needs some 20 bytes for each.
std::size_t values_in(std::string_view text) noexcept {
  std::size_t values = 1;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      in_text = !in_text;
    else if (in_text)
      i += c == '\\' ? 1 : 0;
    else
      values += c == ',' || c == ':' || c == '[' || c == '{' ? 1 : 0;
  }
  return values;
}

void must_be_worth_parsing(std::string_view body, std::size_t most_values) {
  if (body.size() <= small_body || values_in(body) <= most_values + 4 * most_fields) return;
  throw http_problem{400, "bad_json", fmt::format("the body has more than {} values", most_values)};
}

}  // namespace

class json_body::document {
 public:
  document(std::string_view body, std::size_t most_values)
      : text_((must_be_worth_parsing(body, most_values), body)) {
    // Newer versions of simdjson skip it.
    if (body.starts_with("\xef\xbb\xbf"))
      throw http_problem{400, "bad_json",
                         "the body is not JSON: it begins with a byte order mark, which JSON must not"};
    auto fault = parser_.allocate(text_.size(), deepest);
    element root;
    if (fault == simdjson::SUCCESS) fault = parser_.parse(text_).get(root);
    if (fault != simdjson::SUCCESS)
      throw http_problem{400, "bad_json",
                         fmt::format("the body is not JSON: {}", simdjson::error_message(fault))};
    if (root.get(fields_) != simdjson::SUCCESS)
      throw http_problem{400, "bad_json", "the body must be a JSON object"};
    collect_names();
  }

  [[nodiscard]] std::optional<element> find(std::string_view name) const {
    element value;
    if (fields_.at_key(name).get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
  }
  [[nodiscard]] const std::vector<std::string_view>& names() const noexcept { return names_; }

 private:
  void collect_names() {
    for (const auto field : fields_) {
      if (names_.size() == most_fields || std::ranges::find(names_, field.key) != names_.end())
        throw http_problem{
            400, "bad_json",
            fmt::format("the body has '{}' twice, or too many fields", field.key.substr(0, 64))};
      names_.push_back(field.key);
    }
  }

  simdjson::padded_string text_;
  simdjson::dom::parser parser_{};
  simdjson::dom::object fields_{};
  std::vector<std::string_view> names_{};
};

json_body::json_body(std::string_view body, std::size_t most_values)
    : document_(std::make_unique<document>(body, most_values)) {}
json_body::~json_body() = default;

std::optional<std::string_view> json_body::text(std::string_view name) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  std::string_view text;
  if (value->get(text) != simdjson::SUCCESS) refuse_field(name, "a text");
  return text;
}

std::optional<std::int64_t> json_body::integer(std::string_view name, bounds within) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  if (value->get(number) != simdjson::SUCCESS || number < within.least || number > within.most)
    refuse_field(name, fmt::format("a whole number from {} to {}", within.least, within.most));
  return number;
}

std::optional<std::int64_t> json_body::count(std::string_view name, bounds within) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  if (std::string_view text; value->get(text) == simdjson::SUCCESS)
    return static_cast<std::int64_t>(parse_count(
        name, text, {static_cast<std::uint64_t>(within.least), static_cast<std::uint64_t>(within.most)}));
  double number = 0;  // 1e6 is one
  if (value->is_double() && value->get(number) == simdjson::SUCCESS && number == std::floor(number) &&
      number >= static_cast<double>(within.least) && number <= static_cast<double>(within.most))
    return static_cast<std::int64_t>(number);
  return integer(name, within);
}

std::optional<double> json_body::rate(std::string_view name, rate_bounds within) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  if (std::string_view text; value->get(text) == simdjson::SUCCESS) return parse_rate(name, text, within);
  double number = 0;
  if (value->get(number) != simdjson::SUCCESS || !(number >= within.least && number <= within.most))
    refuse_field(
        name, fmt::format("a number from {} to {}, or a text such as \"0.1%\"", within.least, within.most));
  return number;
}

std::optional<bool> json_body::truth(std::string_view name) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  bool truth = false;
  if (value->get(truth) != simdjson::SUCCESS) refuse_field(name, "true or false");
  return truth;
}

bool json_body::is_null(std::string_view name) {
  known_.push_back(name);
  const auto value = document_->find(name);
  return value && value->is_null();
}

std::optional<std::chrono::milliseconds> json_body::duration(std::string_view name) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  std::string_view text;
  if (value->get(text) == simdjson::SUCCESS) return parse_duration(name, text);
  double seconds = 0;
  if (value->get(seconds) != simdjson::SUCCESS || !(seconds >= 0.001) ||
      seconds > static_cast<double>(longest_s))
    refuse_field(name, "seconds from 0.001 to 36500 days, or a text such as \"10m\"");
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::optional<std::vector<std::string_view>> json_body::texts(std::string_view name, std::size_t most) {
  known_.push_back(name);
  const auto value = document_->find(name);
  if (!value) return std::nullopt;
  simdjson::dom::array all;
  if (value->get(all) != simdjson::SUCCESS)
    refuse_field(name, fmt::format("an array of texts, and is {}", kind_of(*value)));
  std::vector<std::string_view> texts;
  for (const element each : all) {
    std::string_view text;
    if (each.get(text) != simdjson::SUCCESS)
      refuse_field(name,
                   fmt::format("an array of texts, and {}[{}] is {}", name, texts.size(), kind_of(each)));
    texts.push_back(text);
    if (texts.size() > most) refuse_field(name, fmt::format("at most {} texts", most));
  }
  return texts;
}

void json_body::must_be_all_taken() const {
  for (const std::string_view name : document_->names()) {
    if (std::ranges::find(known_, name) != known_.end()) continue;
    const std::string_view meant = nearest(name, known_);
    throw http_problem{
        400, "unknown_field",
        fmt::format("there is no field '{}' here; {}", name.substr(0, 64),
                    meant.empty() ? "see /openapi.json" : fmt::format("did you mean {}?", meant))};
  }
}

}  // namespace everseen::serve
