#pragma once

#include <string>

namespace everseen::redis {

/// Names a batch among those of a client: higher for every batch that this process sends, in 20 digits, so
/// that none is another's beginning. Threads: any.
[[nodiscard]] std::string next_sequence();

}  // namespace everseen::redis
