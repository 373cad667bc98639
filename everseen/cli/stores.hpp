#pragma once

#include <optional>
#include <string>

namespace everseen::cli {

/// Where filters live: what --store says, else $EVERSEEN_STORE, else a directory of the user's own,
/// file:$XDG_DATA_HOME/everseen or file:$HOME/.local/share/everseen.
/// @throws parameter_error  none of these is set
[[nodiscard]] std::string store_url(const std::optional<std::string>& given);

}  // namespace everseen::cli
