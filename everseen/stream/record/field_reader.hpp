#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/stream/record/record_rule.hpp"

namespace everseen {

/// Extracts several fields of a record in one pass.
///
/// Values are those of record_rule. A pointer that leads through a number or a string finds nothing; of
/// duplicate names in an object the first counts. Threads: one at a time.
/// Cost: up to the last wanted field; the rest of the record is not parsed.
class field_reader {
 public:
  /// @throws parameter_error  a rule can never match; pointers and numbers are mixed; a field is part of
  ///         another one
  explicit field_reader(const std::vector<field_rule>& fields);
  ~field_reader();
  field_reader(field_reader&&) noexcept;
  field_reader& operator=(field_reader&&) noexcept;

  /// One value a field; data() is null if the record has none. Valid until the next call.
  /// @param record  readable for block_reader::padding bytes after its end
  [[nodiscard]] tl::expected<std::span<const std::string_view>, record_fault> read(std::string_view record);

 private:
  class json;

  void read_delimited(std::string_view record);

  std::vector<field_rule> fields_;
  std::vector<std::size_t> by_number_;  // delimited fields, by their number
  std::vector<std::string_view> values_;
  std::unique_ptr<json> json_;
};

}  // namespace everseen
