#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Selects bytes of a record.
struct field_rule {
  enum class kind : std::uint8_t {
    whole,      ///< the record without its separator
    delimited,  ///< field `number` (from 1) between `delimiter`s
    json,       ///< the value at `pointer` (RFC 6901) in the record, which is a JSON document
  };
  kind how = kind::whole;
  unsigned number = 0;
  char delimiter = '\t';
  std::string pointer{};
};

/// @throws parameter_error  the rule can never match: field 0, or an invalid pointer
void validate(const field_rule& rule);

/// Why a record has no key or no time.
enum class record_fault : std::uint8_t {
  not_json,
  not_utf8,         ///< so not JSON
  byte_order_mark,  ///< before the JSON
  no_key,           ///< too few fields, or nothing at the pointer
  null_key,         ///< of an event: two events without a value are not the same event
  no_time,
  other_shape,      ///< the pointer leads through a value that is not an object or array
  time_of_no_type,  ///< the time is null, a boolean, an object or an array
  unreadable_time,
  time_ahead,  ///< of the clock, by more than allowed
  unfit_key,   ///< the funnel of another system's filter cannot take it
  long_value,  ///< too many bytes for the name of a counter
};

/// The predicate of a message about a record, as in "has no key".
[[nodiscard]] std::string_view to_string(record_fault fault) noexcept;

/// Extracts keys and times from records.
///
/// A JSON string gives its unescaped bytes; a number, a boolean or null gives its text, so 1 and "1" are one
/// key, 1 and 1.0 are two, and null is the key `null`; an object or array gives its unchanged text. Only the
/// path to the value and a string, number or literal there are validated, not the rest of the document,
/// which must still be UTF-8. Names are compared as written, so /ab does not find {"a\u0062": 1}.
/// Threads: one at a time; each worker has its own. Cost: nothing for the whole record, 1 to 2 ns a skipped
/// field, about 1 ns a byte for JSON.
class record_rule {
 public:
  /// @throws parameter_error  field 0, or an invalid pointer
  record_rule(field_rule key, std::optional<field_rule> time);
  ~record_rule();
  record_rule(record_rule&&) noexcept;
  record_rule& operator=(record_rule&&) noexcept;

  struct parts {
    std::string_view key;  ///< valid until the next call
    event_time time{};
  };
  /// @param record  readable for block_reader::padding bytes after its end
  [[nodiscard]] tl::expected<parts, record_fault> read(std::string_view record);

  /// Whether read() is the identity, so that a caller may skip it.
  [[nodiscard]] bool whole_record_is_key() const noexcept;
  [[nodiscard]] bool has_time() const noexcept { return time_.has_value(); }

 private:
  struct json_parser;

  using found = tl::expected<std::string_view, record_fault>;
  found value(const field_rule& rule, std::string_view record);
  found time_text(std::string_view record);

  field_rule key_;
  std::optional<field_rule> time_;
  std::unique_ptr<json_parser> json_;
};

/// Seconds (up to 11 digits), milliseconds (12 to 14 digits), seconds with a fraction, or RFC 3339 with a
/// zone, as in 1700000000, 1700000000123, 1700000000.5, 2023-11-14T22:13:20.5Z, 2023-11-14 23:13:20+01:00.
[[nodiscard]] std::optional<event_time> parse_event_time(std::string_view text) noexcept;

}  // namespace everseen
