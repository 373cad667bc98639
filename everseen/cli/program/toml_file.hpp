#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/program/configuration.hpp"

namespace everseen::cli {

/// The settings in a verb's table of a TOML file, in order.
/// @throws parameter_error  it is unreadable, is not TOML, or contains an unknown setting; names the line
[[nodiscard]] std::vector<setting> read_toml(const std::string& path, std::string_view verb);

/// A text as a TOML string.
[[nodiscard]] std::string toml_text(std::string_view value);

}  // namespace everseen::cli
