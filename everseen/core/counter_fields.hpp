#pragma once

#include <string>
#include <string_view>

namespace everseen::partition_keys {

/// The field of a counter in the hash of a job's records (partition_keys.hpp). No lane's name begins like it.
[[nodiscard]] inline std::string counter_field(std::string_view name) {
  return '\0' + std::string(name);
}
[[nodiscard]] constexpr bool is_counter_field(std::string_view field) noexcept {
  return field.starts_with('\0');
}

}  // namespace everseen::partition_keys
