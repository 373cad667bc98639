#include "everseen/stream/record/record_rule.hpp"

#include <cstring>

#include <simdjson.h>

#include "everseen/core/base/error.hpp"
#include "everseen/stream/record/block_reader.hpp"
#include "everseen/stream/record/json_text.hpp"

namespace everseen {

static_assert(block_reader::padding >= simdjson::SIMDJSON_PADDING);

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

struct record_rule::json_parser {
  simdjson::ondemand::parser parser;

  using found = tl::expected<std::string_view, record_fault>;

  found at(const std::string& pointer, std::string_view record) {
    simdjson::ondemand::document document;
    simdjson::ondemand::value value;
    const auto length = record.size() + simdjson::SIMDJSON_PADDING;
    if (const auto fault = parser.iterate(record.data(), record.size(), length).get(document))
      return tl::unexpected(json_fault(fault, record));
    if (const auto fault = document.at_pointer(pointer).get(value))
      return tl::unexpected(json_fault(fault, record));
    return json_text(value);
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

tl::expected<record_rule::parts, record_fault> record_rule::read(std::string_view record) {
  parts result;
  if (time_) {  // before the key: a JSON key lives in the parser's memory until the next document
    const found text = time_text(record);
    if (!text) return tl::unexpected(text.error());
    const auto time = parse_event_time(*text);
    if (!time) return tl::unexpected(record_fault::unreadable_time);
    result.time = *time;
  }
  const found key = value(key_, record);
  if (!key) return tl::unexpected(key.error());
  result.key = *key;
  return result;
}

record_rule::found record_rule::time_text(std::string_view record) {
  found text = value(*time_, record);
  if (!text && text.error() == record_fault::no_key) return tl::unexpected(record_fault::no_time);
  const bool is_json = time_->how == field_rule::kind::json;
  if (text && is_json && (is_json_literal(*text) || text->starts_with('{') || text->starts_with('[')))
    return tl::unexpected(record_fault::time_of_no_type);
  return text;
}

std::string_view to_string(record_fault fault) noexcept {
  switch (fault) {
    case record_fault::not_json:
      return "is not JSON";
    case record_fault::not_utf8:
      return "is not UTF-8, as JSON must be";
    case record_fault::byte_order_mark:
      return "begins with a byte order mark, which JSON must not (sed '1s/^\\xef\\xbb\\xbf//' removes it)";
    case record_fault::no_key:
      return "has no key";
    case record_fault::null_key:
      return "has null for a key";
    case record_fault::no_time:
      return "has no time";
    case record_fault::other_shape:
      return "has another shape than the JSON pointer expects";
    case record_fault::time_of_no_type:
      return "has a time that is neither a number nor a string";
    case record_fault::unreadable_time:
      return "has a time that cannot be read";
    case record_fault::time_ahead:
      return "has a time too far ahead of the clock (see --max-ahead)";
    case record_fault::unfit_key:
      return "has a key that the filter's funnel cannot take (see everseen info)";
    case record_fault::long_value:
      return "has a value of more than 1024 bytes to be counted by";
  }
  return "has no key";
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

record_rule::found record_rule::value(const field_rule& rule, std::string_view record) {
  switch (rule.how) {
    case field_rule::kind::whole:
      return record;
    case field_rule::kind::delimited:
      if (const auto field = delimited_field(record, rule.number, rule.delimiter)) return *field;
      return tl::unexpected(record_fault::no_key);
    case field_rule::kind::json:
      return json_->at(rule.pointer, record);
  }
  return tl::unexpected(record_fault::no_key);
}

}  // namespace everseen
