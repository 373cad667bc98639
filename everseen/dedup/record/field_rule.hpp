#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/dedup/record/record_format.hpp"

namespace everseen {

/// A field of a record.
struct field_rule {
  enum class kind : std::uint8_t {
    delimited,  ///< field `number` (from 1) between `delimiter`s
    json,       ///< the value at `pointer` (RFC 6901) in the record, which is a JSON document
  };
  kind form = kind::delimited;
  unsigned number = 0;
  field_delimiter delimiter = '\t';
  std::string pointer{};
  bool quoted = false;  ///< a delimited field may be in quotes, and the delimiter is one byte: record_format
};

/// @throws parameter_error  the rule can never match: field 0, or an invalid pointer
void validate(const field_rule& rule);

/// Why a record has no key or no time.
enum class record_fault : std::uint8_t {
  not_json,
  part_of_json,     ///< only the beginning of a document, which may continue in the next lines
  half_surrogate,   ///< an escape in a string of JSON that is no character
  not_utf8,         ///< so not JSON
  byte_order_mark,  ///< before the JSON
  bad_quotes,       ///< not as in RFC 4180; the last of the malformed ones
  no_key,           ///< too few fields, or nothing at the pointer
  null_key,         ///< of an event: two events without a value are not the same event
  no_time,
  unreadable_time,
  time_ahead,        ///< ahead of the clock by more than allowed
  unfit_key,         ///< the funnel of another system's filter cannot take it
  long_value,        ///< too many bytes for the name of a counter
  no_value,          ///< a tombstone of Kafka, or an entry of a Redis stream without the wanted field
  separator_inside,  ///< the byte that ends a record in the output
  blank,             ///< a line of JSON or CSV without a value
  header_again,      ///< the line that names the fields, among the records
};

/// Whether a line is no record at all, as its format allows between records, or files that were joined have.
[[nodiscard]] constexpr bool is_no_record(record_fault fault) noexcept {
  return fault == record_fault::blank || fault == record_fault::header_again;
}

/// Whether the record as a whole cannot be read: nothing is known of its fields.
[[nodiscard]] constexpr bool is_malformed(record_fault fault) noexcept {
  return fault <= record_fault::bad_quotes;
}

/// The predicate of a message about a record, as in "has no key".
[[nodiscard]] std::string_view to_string(record_fault fault) noexcept;

/// The names of the fields in a header line: without quotation marks, a byte order mark at the beginning, and
/// a carriage return at the end.
/// @param input  for messages    @throws format_error  the line is not CSV, as the format says
[[nodiscard]] std::vector<std::string> header_names(std::string_view line, const record_format& format,
                                                    const std::string& input);

}  // namespace everseen
