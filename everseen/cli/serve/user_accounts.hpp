#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/server/base/options.hpp"

namespace everseen::cli {

/// NAME:PASSWORD:read|write|admin. A password may contain colons.
/// @param where  for the message, which does not repeat the password    @throws parameter_error
[[nodiscard]] server::user_account parse_user(const std::string& where, std::string_view text);

/// One account a line. Empty lines and lines that begin with # are ignored.
/// @throws parameter_error  names the line    @throws storage_error  it cannot be read
[[nodiscard]] std::vector<server::user_account> read_users(const std::string& path);

}  // namespace everseen::cli
