#pragma once

#include <cstdint>

#include "module/server/api.hpp"

/// What a command may allocate.
namespace everseen::redis_module {

/// Whether the command comes from the master or an AOF: there it was allowed already, and must have the same
/// effect.
[[nodiscard]] bool repeats_a_decision(module_api::context* ctx) noexcept;

/// How many bytes a command may allocate without exceeding `maxmemory`; all of these where the server evicts
/// keys. Unlimited if there is no maximum.
/// Cost: the server lists its memory, some 50 microseconds.
/// @param ctx  null: outside of commands
[[nodiscard]] std::uint64_t bytes_left(module_api::context* ctx);

/// Holds a filter that a client's RESTORE gives to MAX_SIZE and `maxmemory`, as if it were created. A server
/// that loads its own files, and a replica, take every filter: it was allowed already, and to lack it would
/// be worse than to exceed a limit. A replica cannot tell its master's RESTORE from that of its own client.
/// @param bits  of the filter so far, in bytes    @param more  of them not yet allocated
/// @throws full_error  it is too large
void must_be_restorable(std::uint64_t bits, std::uint64_t more);

}  // namespace everseen::redis_module
