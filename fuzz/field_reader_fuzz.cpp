// Any bytes as a record, and any field of it; and as a time. Bytes after a record must not matter, if the
// first of them is no bracket; fields must be those of a naive split, and those of CSV what a parser finds
// that reads one byte after the other; and no time may exceed the digits that a time can have.
//
// Decodes: everseen/dedup/record/field_reader.cpp, everseen/dedup/time/time_reader.cpp,
// everseen/dedup/time/event_time.cpp, everseen/dedup/record/json_text.cpp

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/field_reader.hpp"
#include "everseen/dedup/time/time_reader.hpp"

namespace {

using everseen::field_delimiter;
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

/// The value, or nothing; `refused` if the record is.
struct answer {
  std::optional<std::string> value{};
  bool refused = false;
  bool operator==(const answer&) const = default;
};

answer read(const field_rule& field, std::string_view record, std::string_view behind) {
  const std::vector<char> bytes = padded(record, behind);
  everseen::field_reader reader({field});
  const auto values = reader.read({bytes.data(), record.size()});
  if (!values) return {{}, true};
  if (values->front().data() == nullptr) return {};
  return {std::string(values->front())};
}

/// A field is read as alone if another one is read with it; fields of two kinds are refused.
void check_pair(const field_rule& field, std::string_view record) {
  const std::vector<char> bytes = padded(record, "\n");
  field_rule other = field;
  other.number = 3;
  other.pointer = field.pointer == "/b" ? "/a" : "/b";
  try {
    everseen::field_reader reader({field, other});
    const auto both = reader.read({bytes.data(), record.size()});
    const answer alone = read(field, record, "\n");
    // Once all fields were found, the rest of a JSON record is not read, so more fields may find more faults.
    if (both) require(alone.value.has_value() == (both->front().data() != nullptr));
  } catch (const everseen::parameter_error&) {  // one contains the other
    require(field.form == field_rule::kind::json);
  }
  other.form = field.form == field_rule::kind::json ? field_rule::kind::delimited : field_rule::kind::json;
  try {
    (void)everseen::field_reader({field, other});
    std::abort();
  } catch (const everseen::parameter_error&) {
    // as it should be
  }
}

answer naive_field(std::string_view record, unsigned number, std::string_view delimiter) {
  std::vector<std::string> fields(1);
  while (!record.empty()) {
    const bool ends = record.starts_with(delimiter);
    ends ? (void)fields.emplace_back() : (void)(fields.back() += record.front());
    record.remove_prefix(ends ? delimiter.size() : 1);
  }
  if (number > fields.size()) return {};
  return {fields[number - 1]};
}

answer naive_csv_field(std::string_view record, unsigned number, char delimiter) {
  enum class at { beginning, plain, quoted, after_quote } state = at::beginning;
  if (record.ends_with('\r')) record.remove_suffix(1);
  std::vector<std::string> fields(1);
  for (const char c : record) {
    if (state == at::quoted) {
      if (c == '"')
        state = at::after_quote;
      else
        fields.back() += c;
    } else if (c == '"' && state == at::beginning) {
      state = at::quoted;
    } else if (c == '"' && state == at::after_quote) {
      fields.back() += c;
      state = at::quoted;
    } else if (c == delimiter) {
      fields.emplace_back();
      state = at::beginning;
    } else if (c == '"' || state == at::after_quote) {
      return {{}, true};
    } else {
      fields.back() += c;
      state = at::plain;
    }
  }
  if (state == at::quoted) return {{}, true};
  if (number > fields.size()) return {};
  return {fields[number - 1]};
}

void check_time(std::string_view text) {
  using everseen::time_reader;
  const auto utc = everseen::time_zone::of("UTC");
  static time_reader readers[] = {time_reader(),
                                  time_reader("", utc),
                                  time_reader("%d/%b/%Y:%H:%M:%S %z", {}),
                                  time_reader("%d.%m.%Y %H:%M:%S.%f", utc),
                                  time_reader("s", {}),
                                  time_reader("ns", {})};
  const std::vector<char> alone(text.begin(), text.end());
  for (time_reader& reader : readers) {
    const auto time = reader.read({alone.data(), alone.size()});
    if (!time) {
      (void)reader.advice({alone.data(), alone.size()});
      continue;
    }
    const std::int64_t ms = time->time_since_epoch().count();
    require(ms > -300'000'000'000'000 && ms < 300'000'000'000'000);
  }
}

/// The first line as a time zone and as the format of the second.
void check_format(std::string_view text) {
  using namespace everseen;
  const std::string_view format = text.substr(0, text.find('\n'));
  if (format.size() == text.size()) return;
  const std::string_view written = text.substr(format.size() + 1);
  try {
    time_zone zone = time_zone::of(format);
    if (const auto time = time_reader("", zone).read(written))
      require(std::chrono::abs(zone.to_local(*time) - *time) <= std::chrono::days(2));
    return;
  } catch (const parameter_error&) {
    // no zone
  }
  try {
    time_reader reader{std::string(format), time_zone::of("UTC")};
    if (!reader.read(written)) require(!reader.advice(written).empty());
    (void)time_reader(std::string(format), {}).read(written);
  } catch (const parameter_error&) {
    // no format
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  check_time(input);
  check_format(input);
  if (input.size() < 3) return 0;
  const auto kind = static_cast<unsigned char>(input[0]) % 3;
  field_rule field{kind == 2 ? field_rule::kind::json : field_rule::kind::delimited,
                   1 + static_cast<unsigned char>(input[1]) % 5U,
                   input[2],
                   {},
                   kind == 1};
  if (field.quoted && (field.delimiter == '"' || field.delimiter == '\r')) field.delimiter = ',';
  if (kind == 0 && input[0] < 0) field.delimiter = field_delimiter(input.substr(1, 2));
  input.remove_prefix(3);
  if (field.form == field_rule::kind::json) {
    const std::size_t end = input.find('\n');
    if (end == std::string_view::npos) return 0;
    field.pointer = input.substr(0, end);
    input.remove_prefix(end + 1);
  }
  try {
    const answer found = read(field, input, std::string_view("\0", 1));
    require(found == read(field, input, "\n{\"t\":1,\"a\":[\"b\"]}"));
    require(found == read(field, input, "\"]},:\\"));
    check_pair(field, input);
    if (kind == 0) require(found == naive_field(input, field.number, field.delimiter.text()));
    if (kind == 1) require(found == naive_csv_field(input, field.number, field.delimiter.text().front()));
  } catch (const everseen::parameter_error&) {  // an invalid pointer
    require(field.form == field_rule::kind::json);
  }
  return 0;
}
