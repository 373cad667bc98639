#pragma once

#include <string_view>

#include "everseen/server/base/command.hpp"

namespace everseen::server {

/// Whether a text is of printable ASCII without blanks, as what clients call themselves must be.
[[nodiscard]] bool is_plain(std::string_view text) noexcept;

/// Names the connection, for CLIENT SETNAME and HELLO.    @throws refusal
void name_client(call& c, std::string_view name);

}  // namespace everseen::server
