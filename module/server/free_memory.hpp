#pragma once

#include <cstdint>

#include "module/server/api.hpp"

namespace everseen::redis_module {

/// How many bytes a command may allocate without exceeding `maxmemory`; all of these where the server evicts
/// keys. Unlimited if there is no maximum, and for what comes from the master or an AOF: there it was decided
/// already, and must have the same effect.
/// Cost: the server lists its memory, some 50 microseconds.
[[nodiscard]] std::uint64_t bytes_left(module_api::context* ctx);

}  // namespace everseen::redis_module
