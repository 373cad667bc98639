#pragma once

#include <string_view>

namespace everseen::server {

/// openapi.json, as embedded when the program was built.
[[nodiscard]] std::string_view openapi_document() noexcept;

}  // namespace everseen::server
