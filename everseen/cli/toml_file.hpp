#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/configuration.hpp"

namespace everseen::cli {

/// The settings in a verb's table of a TOML file, in its order.
/// @throws parameter_error  it cannot be read, is no TOML, or holds what is no setting; says which line
[[nodiscard]] std::vector<setting> read_toml(const std::string& path, std::string_view verb);

/// A text as TOML writes it.
[[nodiscard]] std::string toml_text(std::string_view value);

}  // namespace everseen::cli
