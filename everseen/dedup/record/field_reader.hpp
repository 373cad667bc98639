#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/dedup/record/field_rule.hpp"

namespace everseen {

/// Extracts several fields of a record in one pass.
///
/// A JSON string gives its unescaped bytes; a number, a boolean or null gives its text, so 1 and "1" are one
/// value, 1 and 1.0 are two, and null is `null`; an object or array gives its unchanged text. Only the path
/// to the value and a string, number or literal there are validated, not the rest of the document, which must
/// still be UTF-8. Names are compared unescaped, so /ab finds {"a\u0062": 1}. A pointer that leads through a
/// number or a string finds nothing; of equal names in an object the first counts, as nothing is read behind
/// the last wanted value.
///
/// A quoted field of CSV gives the text between its quotes, with doubled quotes as one. All quotes of such a
/// record are validated: if one is in the wrong place, the record may have been cut in the wrong place.
///
/// Threads: one at a time; each worker has its own. Cost: nothing for the whole record, 1 to 2 ns a skipped
/// field, about 1 ns a byte for JSON; up to the last wanted field, unless there are quotes.
class field_reader {
 public:
  /// @throws parameter_error  a rule can never match; pointers and numbers are mixed; a field is part of
  ///         another one
  explicit field_reader(const std::vector<field_rule>& fields);
  ~field_reader();
  field_reader(field_reader&&) noexcept;
  field_reader& operator=(field_reader&&) noexcept;

  /// One value a field; data() is null if the record has none. Valid until the next call.
  /// @param record  readable for block_reader::padding bytes after its end, of which the first is no ] or }:
  ///   that would let simdjson refuse an unbalanced record which it otherwise does not read to its end
  [[nodiscard]] tl::expected<std::span<const std::string_view>, record_fault> read(std::string_view record);

  /// Saves read() a search if the caller knows that the next records have no quotation mark.
  void expect_quotes(bool any) noexcept { expects_quotes_ = any; }

 private:
  class json;

  void read_delimited(std::string_view record);
  [[nodiscard]] bool read_quoted(std::string_view record);

  std::vector<field_rule> fields_;
  std::vector<std::size_t> by_number_;  // delimited fields, by their number
  std::vector<std::string_view> values_;
  std::vector<std::string> unquoted_;  // values with doubled quotes, by field
  bool expects_quotes_ = true;
  std::unique_ptr<json> json_;
};

}  // namespace everseen
