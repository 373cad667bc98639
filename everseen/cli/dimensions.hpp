#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/stream/event_rule.hpp"

/// What a job counts by, as it is typed.
namespace everseen::cli {

/// How delimited fields are told apart, and what they are called.
struct field_words {
  char delimiter = '\t';
  std::optional<std::vector<std::string>> names{};  ///< in their order, where the first line says them
};

/// The fields that a line names: quotation marks around a name, a byte order mark before the first, and a
/// carriage return behind the last are no part of it.
[[nodiscard]] std::vector<std::string> names_in(std::string_view line, char delimiter);

/// A field as it is typed: a JSON pointer, the number of a delimited field, or its name.
/// @param what  the option, for the message    @throws parameter_error
[[nodiscard]] field_rule parse_field(std::string_view what, std::string_view text, const field_words& words);

/// Dimensions with commas between them, each [NAME=][TIME:]FIELD, where TIME is minute, hour, day or a
/// duration; nothing: the set without dimensions, the total.
/// @throws parameter_error  one is none, or two have one name
[[nodiscard]] dimension_set parse_dimensions(std::string_view text, const field_words& words);

}  // namespace everseen::cli
