#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/words.hpp"

namespace everseen::server {

/// A whole number, all of the word. Other numbers: everseen/core/base/words.hpp.
[[nodiscard]] inline std::optional<std::int64_t> read_integer(std::string_view word) noexcept {
  return read_number<std::int64_t>(word);
}

}  // namespace everseen::server
