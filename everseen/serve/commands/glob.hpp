#pragma once

#include <string_view>

namespace everseen::serve {

/// Whether a text matches a Redis pattern: * ? [abc] [^a] [a-z], and a backslash to escape a byte.    Cost:
/// at most pattern times text, however many stars there are.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace everseen::serve
