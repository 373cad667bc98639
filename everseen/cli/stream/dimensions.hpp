#pragma once

#include <string_view>

#include "everseen/cli/verb/record_options.hpp"
#include "everseen/dedup/record/event_rule.hpp"

/// Parsing of the dimensions that a job counts by.
namespace everseen::cli {

/// Dimensions separated by commas, each [NAME=][TIME:]FIELD, where TIME is minute, hour, day or a duration.
/// An empty text is the set without dimensions, the total.
/// @throws parameter_error  one is invalid, or two have the same name
[[nodiscard]] dimension_set parse_dimensions(std::string_view text, const field_words& words);

}  // namespace everseen::cli
