#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace everseen::server {

/// A whole number, all of the word.
[[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view word) noexcept;
/// A finite number, all of the word.
[[nodiscard]] std::optional<double> read_decimal(std::string_view word) noexcept;

}  // namespace everseen::server
