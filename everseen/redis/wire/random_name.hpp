#pragma once

#include <string>

#include "everseen/core/format/redis_keys.hpp"

namespace everseen::redis {

/// 32 random hexadecimal digits: unique.
[[nodiscard]] inline std::string random_name() {
  return filter_names::to_text(image::random_filter_id());
}

}  // namespace everseen::redis
