#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/stream/record/event_rule.hpp"

/// Parsing of the fields and dimensions that a job counts by.
namespace everseen::cli {

/// The delimiter of fields, and their names.
struct field_words {
  char delimiter = '\t';
  std::optional<std::vector<std::string>> names{};  ///< in order, if a header line names them
};

/// The names in a header line, without quotation marks, a byte order mark at the beginning, and a carriage
/// return at the end.
[[nodiscard]] std::vector<std::string> names_in(std::string_view line, char delimiter);

/// A typed field: a JSON pointer, the number of a delimited field, or its name.
/// @param what  the option, for the message    @throws parameter_error
[[nodiscard]] field_rule parse_field(std::string_view what, std::string_view text, const field_words& words);

/// Dimensions separated by commas, each [NAME=][TIME:]FIELD, where TIME is minute, hour, day or a duration.
/// An empty text is the set without dimensions, the total.
/// @throws parameter_error  one is invalid, or two have the same name
[[nodiscard]] dimension_set parse_dimensions(std::string_view text, const field_words& words);

}  // namespace everseen::cli
