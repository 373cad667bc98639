// Any bytes as an event, JSON or delimited. Bytes after a record must not matter; a key of one field must
// equal the value that field_reader finds; and the name of every counter must parse back to its values.
//
// Decodes: everseen/dedup/record/event_rule.cpp, everseen/dedup/record/json_text.cpp,
// everseen/dedup/record/key_form.cpp

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/dedup/record/field_reader.hpp"
#include "everseen/dedup/record/key_form.hpp"
#include "everseen/dedup/time/time_reader.hpp"

namespace {

using everseen::event_shape;
using everseen::field_rule;

void require(bool truth) {
  if (!truth) std::abort();
}

field_rule json(std::string pointer) {
  return {field_rule::kind::json, 0, '\t', std::move(pointer)};
}
field_rule field(unsigned number) {
  return {field_rule::kind::delimited, number, ',', {}};
}

/// A record alone in its heap block, with the promised padding after it.
std::vector<char> padded(std::string_view record, std::string_view behind) {
  std::vector<char> bytes(record.begin(), record.end());
  for (std::size_t i = 0; i < everseen::block_reader::padding; ++i)
    bytes.push_back(behind[i % behind.size()]);
  return bytes;
}

/// The key and all counters; nothing if the record is not an event.
std::optional<std::vector<std::string>> read(const event_shape& shape, std::string_view record,
                                             std::string_view behind) {
  const std::vector<char> bytes = padded(record, behind);
  everseen::event_rule rule(shape);
  const auto event = rule.read({bytes.data(), record.size()});
  // What a message would say.
  std::vector<std::string> parts = {rule.at_fault().field, rule.time_place().field};
  parts.emplace_back(rule.at_fault().value);
  for (const std::string& absent : rule.absent()) parts.push_back(absent);
  if (!event) return std::nullopt;
  parts = {std::string(event->key)};
  for (std::size_t set = 0; set < shape.counts.size(); ++set) {
    parts.emplace_back(rule.counter(set));
    const auto values = everseen::parse_counter(parts.back());
    require(values && values->set == set && values->values.size() == shape.counts[set].size());
  }
  return parts;
}

void check(const event_shape& shape, std::string_view record) {
  require(read(shape, record, "\n{\"id\":\"next\"}") == read(shape, record, "\"]},"));
}

void check_key(const field_rule& key, std::string_view record) {
  const std::vector<char> bytes = padded(record, "\n{\"id\":1}");
  everseen::field_reader alone({key});
  const auto values = alone.read({bytes.data(), record.size()});
  const auto found = read({{key}, {}, {}, true}, record, "\n{\"id\":1}");
  const bool has_value = values && values->front().data() != nullptr;
  require(has_value == found.has_value());
  if (has_value) require(found->front() == values->front());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view record(reinterpret_cast<const char*>(data), size);
  check({{json("/id"), json("/user/id")}, {}, {{{"tag", json("/tags/1")}}, {}}}, record);
  check({{json("/id")}, json("/time"), {{{"t", json("/time"), std::chrono::minutes(10)}}}}, record);
  check({{field(2), field(1)}, field(3), {{{"x", field(1)}, {"y", field(4)}}}}, record);
  using namespace std::chrono;
  for (const char* zone : {"UTC", "-02:30"}) {
    event_shape days{{json("/id")}, json("/time"), {{{"d", json("/time"), hours(24)}, {"none", json("/z")}}}};
    days.times = everseen::time_reader("", everseen::time_zone::of(zone));
    days.null_is_key = true;
    check(days, record);
  }
  event_shape table{{field(2)}, {}, {{{"m", field(1), minutes(1)}}}};
  table.header = "a,b\r";
  check(table, record);
  for (const everseen::key_form& form :
       {everseen::key_form{true, 1, 2, 5, false, true}, everseen::key_form{true, 0, 0, {}, true}}) {
    event_shape whole{{}};
    whole.form = form;
    check(whole, record);
  }
  for (const char* pointer : {"/id", "/user/id", "/tags/1"}) check_key(json(pointer), record);
  check_key(field(3), record);
  check_key({field_rule::kind::delimited, 2, ',', {}, true}, record);
  return 0;
}
