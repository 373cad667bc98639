#pragma once

#include <optional>
#include <string>

#include "everseen/cli/verb/options.hpp"

/// Options and arguments whose value is the name of a filter or a job, as doc/format.md, "Names of filters
/// and jobs", writes it.
namespace everseen::cli {

/// An argument without a flag.
void add_name(option_set& known, std::string& target, const option_text& manual);
void add_name(option_set& known, std::optional<std::string>& target, const option_text& manual);

/// An option.
void add_name(option_set& known, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual);

}  // namespace everseen::cli
