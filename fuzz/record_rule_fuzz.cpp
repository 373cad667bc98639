// Any bytes as a record, under any rule, and as a time. Bytes after a record must not matter, fields must be
// those of a naive split, and no time may exceed the digits that a time can have.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/stream/record/block_reader.hpp"
#include "everseen/stream/record/record_rule.hpp"

namespace {

using everseen::field_rule;

void require(bool truth) {
  if (!truth) std::abort();
}

/// A record alone in its heap block, with the promised padding after it.
std::vector<char> padded(std::string_view record, std::string_view behind) {
  std::vector<char> bytes(record.begin(), record.end());
  for (std::size_t i = 0; i < everseen::block_reader::padding; ++i)
    bytes.push_back(behind[i % behind.size()]);
  return bytes;
}

struct answer {
  std::string key;
  everseen::event_time time;
  bool operator==(const answer&) const = default;
};

std::optional<answer> read(everseen::record_rule& rule, std::string_view record, std::string_view behind) {
  const std::vector<char> bytes = padded(record, behind);
  const auto parts = rule.read({bytes.data(), record.size()});
  if (!parts) return std::nullopt;
  return answer{std::string(parts->key), parts->time};
}

std::optional<std::string> naive_field(std::string_view record, unsigned number, char delimiter) {
  std::vector<std::string> fields(1);
  for (const char c : record) {
    if (c == delimiter)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  if (number > fields.size()) return std::nullopt;
  return fields[number - 1];
}

void check_time(std::string_view text) {
  const std::vector<char> alone(text.begin(), text.end());
  const auto time = everseen::parse_event_time({alone.data(), alone.size()});
  if (!time) return;
  const std::int64_t ms = time->time_since_epoch().count();
  require(ms > -100'000'000'000'000 && ms < 300'000'000'000'000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  check_time(input);
  if (input.size() < 3) return 0;
  field_rule key{static_cast<field_rule::kind>(static_cast<unsigned char>(input[0]) % 3),
                 1 + static_cast<unsigned char>(input[1]) % 5U,
                 input[2],
                 {}};
  std::optional<field_rule> time;
  if ((input[0] & 0x40) != 0) time = field_rule{field_rule::kind::delimited, 2, ' ', {}};
  if ((input[0] & 0x20) != 0) time = field_rule{field_rule::kind::json, 0, '\t', "/t"};
  input.remove_prefix(3);
  if (key.how == field_rule::kind::json) {
    const std::size_t end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    key.pointer = input.substr(0, end);
    input.remove_prefix(end + 1);
  }
  try {
    everseen::record_rule rule(key, time);
    const auto found = read(rule, input, std::string_view("\0", 1));
    require(found == read(rule, input, "\n{\"t\":1,\"a\":[\"b\"]}"));
    require(found == read(rule, input, "]}\",:\\\""));
    if (!time && key.how == field_rule::kind::whole) require(found && found->key == input);
    if (!time && key.how == field_rule::kind::delimited) {
      const auto expected = naive_field(input, key.number, key.delimiter);
      require(found.has_value() == expected.has_value() && (!found || found->key == *expected));
    }
  } catch (const everseen::parameter_error&) {  // an invalid pointer
    require(key.how == field_rule::kind::json);
  }
  return 0;
}
