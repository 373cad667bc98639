#include "everseen/stream/record_rule.hpp"

#include <cstring>

#include <simdjson.h>

#include "everseen/stream/block_reader.hpp"

namespace everseen {

static_assert(block_reader::padding >= simdjson::SIMDJSON_PADDING);

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
    return text;
  }
};

record_rule::record_rule(field_rule key, std::optional<field_rule> time)
    : key_(std::move(key)), time_(std::move(time)) {
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
