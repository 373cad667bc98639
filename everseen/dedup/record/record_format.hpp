#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace everseen {

/// What is between the fields of a record: one byte, or several.
class field_delimiter {
 public:
  field_delimiter(char byte) : text_(1, byte) {}  // NOLINT(google-explicit-constructor): most are one
  /// @pre not empty
  explicit field_delimiter(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  /// The first place of it; npos: there is none.
  [[nodiscard]] std::size_t find_in(std::string_view record) const noexcept {
    return text_.size() == 1 ? record.find(text_.front()) : record.find(text_);
  }
  friend bool operator==(const field_delimiter&, const field_delimiter&) = default;

 private:
  std::string text_;
};

/// How input is cut into records.
struct record_format {
  char separator = '\n';
  /// As in CSV (RFC 4180): a separator between quotation marks belongs to its record, and a carriage return
  /// before a separator does not belong to the last field.
  bool quoted = false;
  /// The first record of each input names the fields of the others, and is not a record itself.
  bool header = false;
  /// Input that begins as gzip, zstd, bzip2, xz or lz4 files do is decompressed first.
  bool decompress = true;
  field_delimiter delimiter = '\t';  ///< between the names of fields in a header

  /// What is between the fields if they may be quoted.
  [[nodiscard]] std::optional<field_delimiter> csv() const {
    return quoted ? std::optional(delimiter) : std::nullopt;
  }
};

}  // namespace everseen
