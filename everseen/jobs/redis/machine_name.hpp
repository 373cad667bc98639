#pragma once

#include <string>

namespace everseen {

/// The host name; `worker` if the machine has none.
[[nodiscard]] std::string machine_name();

}  // namespace everseen
