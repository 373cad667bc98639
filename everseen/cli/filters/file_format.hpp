#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace everseen::cli {

/// File formats for exporting and importing filters.
enum class file_format : std::uint8_t { everseen, guava, redisbloom };

[[nodiscard]] inline std::optional<file_format> parse_file_format(std::string_view name) noexcept {
  if (name == "everseen") return file_format::everseen;
  if (name == "guava") return file_format::guava;
  if (name == "redisbloom") return file_format::redisbloom;
  return std::nullopt;
}

}  // namespace everseen::cli
