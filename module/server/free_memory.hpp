#pragma once

#include <cstdint>

#include "module/server/api.hpp"

namespace everseen::redis_module {

/// Whether the command comes from the master or an AOF: there it was allowed already, and must have the same
/// effect.
[[nodiscard]] bool repeats_a_decision(module_api::context* ctx) noexcept;

/// How many bytes a command may allocate without exceeding `maxmemory`; all of these where the server evicts
/// keys. Unlimited if there is no maximum.
/// Cost: the server lists its memory, some 50 microseconds.
[[nodiscard]] std::uint64_t bytes_left(module_api::context* ctx);

}  // namespace everseen::redis_module
