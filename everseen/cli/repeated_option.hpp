#pragma once

#include <string>
#include <vector>

#include "everseen/cli/options.hpp"

namespace everseen::cli {

/// An option that may be given any number of times.
void add_texts(CLI::App& app, const std::string& flags, std::vector<std::string>& target,
               const option_text& manual);

}  // namespace everseen::cli
