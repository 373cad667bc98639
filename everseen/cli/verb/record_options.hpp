/// How verbs find keys and times in the lines of their input.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/cli/verb/verbs.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/dedup/record/record_format.hpp"

namespace everseen::cli {

/// A field as typed: its number, its name, or a JSON pointer.
struct typed_field {
  std::string option;  ///< with its dashes
  std::string text;
};

/// What the user said about the lines of the input.
struct record_options {
  std::vector<typed_field> key{};  ///< empty: the whole line
  key_form form{};
  std::optional<typed_field> time{};
  std::optional<std::string> time_format{};
  std::optional<std::string> time_unit{};
  std::optional<everseen::time_zone> time_zone{};
  std::optional<field_delimiter> delimiter{};
  bool csv = false;
  bool header = false;
  bool zero = false;
  bool no_decompress = false;
  /// Lines without a key, where a verb does not say more about them; nothing: those that are no records.
  std::optional<bool> drop_without_key{};

  [[nodiscard]] record_format format() const noexcept {
    return {zero ? '\0' : '\n', csv, header, !no_decompress, delimiter_or_default()};
  }
  [[nodiscard]] field_delimiter delimiter_or_default() const { return delimiter.value_or(csv ? ',' : '\t'); }
};

/// How records are cut and read, as options, each behind a space: " --csv --key id".
[[nodiscard]] std::string shown_records(const record_options& given);

/// --key, --key-field, --key-json, --delimiter, --csv, --header and --no-decompress. `into` must outlive the
/// parsing.
void declare_key(option_set& known, record_options& into);
/// --ignore-case, --fold-case, --trim, --skip-fields, --skip-chars and --check-chars.
void declare_key_form(option_set& known, record_options& into);
/// --time, --time-field, --time-json, --time-format and --time-zone.
void declare_time(option_set& known, record_options& into);

/// Refuses options that would have no effect.
/// @param also_fields  whether other options of the verb name fields    @throws parameter_error
void must_have_effect(const record_options& given, bool also_fields);

/// What parse_field() has to know: the delimiter, whether fields are quoted, and their names.
struct field_words {
  field_delimiter delimiter = '\t';
  /// In order, if a header line names them. None: the input is empty, and every name passes.
  std::optional<std::vector<std::string>> names{};
  bool quoted = false;
};
/// @param header  the first line of the input, if it names the fields; nothing: the input is empty
/// @throws format_error  it is not CSV, as the options say
[[nodiscard]] field_words words_of(const record_options& given, const std::optional<std::string>& header);

/// A typed field: a JSON pointer, the number of a delimited field, or its name.
/// @throws parameter_error
[[nodiscard]] field_rule parse_field(const typed_field& typed, const field_words& fields);

/// Key and time.
/// @param header  the first line of the input, if --header is given; nothing: the input is empty
/// @throws parameter_error  the fields are of different kinds, or the line does not name one
[[nodiscard]] event_shape shape_of(const record_options& given, const std::optional<std::string>& header);

/// Lines that a verb passed over since they have no key, or whose key it cannot use.
struct keyless_lines {
  std::uint64_t count = 0;
  std::uint64_t all = 0;     ///< lines that were read
  std::string_view first{};  ///< where the first is, and why it has no key
};
/// A sentence about them, which asks whether the key is right if no line has one.
/// @param missing  as in "key or time"    @param fate  as in "dropped"
[[nodiscard]] std::string keyless_note(const keyless_lines& lines, std::string_view missing,
                                       std::string_view fate);

/// Warns on standard error if an input does not seem to be what the options say, or lines that look the same
/// differ.
class input_warnings {
 public:
  explicit input_warnings(record_options given) : given_(std::move(given)) {}

  /// @param text  the beginning of an input: whole lines    @param name  of the input
  void look_at(std::string_view text, const std::string& name);
  /// @param text  a later part of an input: whole lines. Of these the last is looked at, so that this costs
  ///        nothing; the parts of a joined file are long.
  void look_at_more(std::string_view text, const std::string& name);

 private:
  void look_at_delimiters(std::string_view text, const std::string& name) const;
  void look_at_line_ends(std::string_view text, const std::string& name);

  record_options given_;
  bool has_warned_of_quotes_ = false;
  bool has_warned_of_ends_ = false;
  bool has_returns_ = false;   // lines that end with CR LF, in any input so far
  bool has_newlines_ = false;  // lines that end with LF alone
};

/// Lets the inputs of a reader be looked at as they are read.
void watch_input(block_reader& input, const record_options& given);

}  // namespace everseen::cli
