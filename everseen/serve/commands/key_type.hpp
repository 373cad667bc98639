#pragma once

#include <string_view>

namespace everseen::serve {

/// The type name of RedisBloom's filters, which clients compare with.
inline constexpr std::string_view type_name = "MBbloom--";

}  // namespace everseen::serve
