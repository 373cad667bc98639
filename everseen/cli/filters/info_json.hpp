#pragma once

#include <optional>
#include <string>
#include <vector>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// Prints what `everseen info --json` shows.
/// @param store  its URL, as shown to people
/// @param older  the filter that is asked first, if there is one
void print_info_json(const filter_info& info, const std::string& store, const filter_facts& known,
                     const std::optional<predecessor>& older, const std::vector<std::string>& warnings,
                     printer& out);

}  // namespace everseen::cli
