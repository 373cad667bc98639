#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace everseen::server {

/// A whole number, all of the word.
[[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view word) noexcept;
/// Bytes as Redis reads them: 100, 100b, 1k (1000), 1kb (1024), m, mb, g, gb; letters of either case.
[[nodiscard]] std::optional<std::int64_t> read_memory_size(std::string_view word) noexcept;
/// A finite number, all of the word.
[[nodiscard]] std::optional<double> read_decimal(std::string_view word) noexcept;

}  // namespace everseen::server
