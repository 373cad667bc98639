#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/stream/event_rule.hpp"

/// What a job counts by, as it is typed, and as the job's ledger keeps it.
namespace everseen::cli {

/// A field as it is typed: a JSON pointer, or the number of a delimited field.
/// @param what  the option, for the message    @throws parameter_error
[[nodiscard]] field_rule parse_field(std::string_view what, std::string_view text, char delimiter);

/// Dimensions with commas between them, each [NAME=][TIME:]FIELD, where TIME is minute, hour, day or a
/// duration; nothing: the set without dimensions, the total.
/// @throws parameter_error  one is none, or two have one name
[[nodiscard]] dimension_set parse_dimensions(std::string_view text, char delimiter);

/// What a job is, for its ledger: two jobs with the same description count alike.
[[nodiscard]] std::string describe_job(const event_shape& shape);

/// The names of the dimensions of each set.    @throws format_error  describe_job() wrote no such text
[[nodiscard]] std::vector<std::vector<std::string>> described_sets(std::string_view description);

}  // namespace everseen::cli
