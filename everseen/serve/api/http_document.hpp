#pragma once

#include <string_view>

namespace everseen::serve {

/// openapi.json, as embedded when the program was built.
[[nodiscard]] std::string_view openapi_document() noexcept;

}  // namespace everseen::serve
