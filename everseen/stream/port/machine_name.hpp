#pragma once

#include <string>

namespace everseen {

/// The host name; `worker` where the machine has none.
[[nodiscard]] std::string machine_name();

}  // namespace everseen
