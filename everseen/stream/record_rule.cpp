#include "everseen/stream/record_rule.hpp"

#include <cstring>

#include <simdjson.h>

#include "everseen/core/error.hpp"
#include "everseen/stream/block_reader.hpp"

namespace everseen {

static_assert(block_reader::padding >= simdjson::SIMDJSON_PADDING);

namespace {

// The parser hands out the text of numbers and literals as it stands, up to what follows them: 12a, nul.

bool is_literal(std::string_view text) noexcept {
  return text == "true" || text == "false" || text == "null";
}

/// Whether the text is a number as RFC 8259 has them, of any length.
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

/// @throws parameter_error  the rule can never match
void validate(const field_rule& rule) {
  if (rule.how == field_rule::kind::delimited && rule.number == 0)
    throw parameter_error("there is no field 0; fields are counted from 1");
  if (rule.how != field_rule::kind::json) return;
  bool good = rule.pointer.starts_with('/');
  for (std::size_t at = 0; (at = rule.pointer.find('~', at)) != std::string::npos; ++at)
    good =
        good && at + 1 < rule.pointer.size() && (rule.pointer[at + 1] == '0' || rule.pointer[at + 1] == '1');
  if (!good)
    throw parameter_error(
        "'" + rule.pointer +
        "' is not a JSON pointer; it begins with a slash, as in /user/id, and ~ is written ~0");
}

}  // namespace

struct record_rule::json_parser {
  simdjson::ondemand::parser parser;

  std::optional<std::string_view> at(const std::string& pointer, std::string_view record) {
    simdjson::ondemand::document document;
    simdjson::ondemand::value found;
    if (parser.iterate(record.data(), record.size(), record.size() + simdjson::SIMDJSON_PADDING)
                .get(document) != simdjson::SUCCESS ||
        document.at_pointer(pointer).get(found) != simdjson::SUCCESS)
      return std::nullopt;
    return text_of(found);
  }

 private:
  static std::optional<std::string_view> text_of(simdjson::ondemand::value found) {
    simdjson::ondemand::json_type type;
    if (found.type().get(type) != simdjson::SUCCESS) return std::nullopt;
    std::string_view text;
    switch (type) {
      case simdjson::ondemand::json_type::string:
        if (found.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
        return text;
      case simdjson::ondemand::json_type::array:
      case simdjson::ondemand::json_type::object:
        if (simdjson::to_json_string(found).get(text) != simdjson::SUCCESS) return std::nullopt;
        return text;
      default:
        break;
    }
    text = found.raw_json_token();
    while (!text.empty() &&
           (text.back() == ' ' || text.back() == '\r' || text.back() == '\t' || text.back() == '\n'))
      text.remove_suffix(1);
    if (!is_literal(text) && !is_number(text)) return std::nullopt;
    return text;
  }
};

record_rule::record_rule(field_rule key, std::optional<field_rule> time)
    : key_(std::move(key)), time_(std::move(time)) {
  validate(key_);
  if (time_) validate(*time_);
  if (key_.how == field_rule::kind::json || (time_ && time_->how == field_rule::kind::json))
    json_ = std::make_unique<json_parser>();
}
record_rule::~record_rule() = default;
record_rule::record_rule(record_rule&&) noexcept = default;
record_rule& record_rule::operator=(record_rule&&) noexcept = default;

bool record_rule::whole_record_is_key() const noexcept {
  return key_.how == field_rule::kind::whole && !time_;
}

std::optional<record_rule::parts> record_rule::read(std::string_view record) {
  parts found;
  if (time_) {  // before the key: a JSON key lives in the parser's memory until the next document
    const auto text = value(*time_, record);
    const auto time = text ? parse_event_time(*text) : std::nullopt;
    if (!time) return std::nullopt;
    found.time = *time;
  }
  const auto key = value(key_, record);
  if (!key) return std::nullopt;
  found.key = *key;
  return found;
}

namespace {

std::optional<std::string_view> delimited_field(std::string_view record, unsigned number, char delimiter) {
  for (unsigned passed = 1; passed < number; ++passed) {
    const std::size_t end = record.find(delimiter);
    if (end == std::string_view::npos) return std::nullopt;
    record.remove_prefix(end + 1);
  }
  return record.substr(0, record.find(delimiter));
}

}  // namespace

std::optional<std::string_view> record_rule::value(const field_rule& rule, std::string_view record) {
  switch (rule.how) {
    case field_rule::kind::whole:
      return record;
    case field_rule::kind::delimited:
      return delimited_field(record, rule.number, rule.delimiter);
    case field_rule::kind::json:
      return json_->at(rule.pointer, record);
  }
  return std::nullopt;
}

}  // namespace everseen
