#pragma once

#include <string>

namespace everseen::redis {

/// 32 random hexadecimal digits: nobody else has them.
[[nodiscard]] std::string random_name();

}  // namespace everseen::redis
