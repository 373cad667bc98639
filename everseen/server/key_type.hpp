#pragma once

#include <string_view>

namespace everseen::server {

/// What RedisBloom's filters are called, which clients compare with.
inline constexpr std::string_view type_name = "MBbloom--";

}  // namespace everseen::server
