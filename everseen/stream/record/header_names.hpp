#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/stream/record/record_format.hpp"

namespace everseen {

/// The names of the fields in a header line: without quotation marks, a byte order mark at the beginning, and
/// a carriage return at the end.
/// @param input  for messages    @throws format_error  the line is not CSV, as the format says
[[nodiscard]] std::vector<std::string> header_names(std::string_view line, record_format format,
                                                    const std::string& input);

}  // namespace everseen
