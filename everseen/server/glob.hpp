#pragma once

#include <string_view>

namespace everseen::server {

/// Whether a text fits a pattern as Redis has them: * ? [abc] [^a] [a-z], and a backslash before a byte that
/// is meant as it is.    Cost: at most pattern times text, however many stars there are.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace everseen::server
