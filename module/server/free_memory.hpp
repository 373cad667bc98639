#pragma once

#include <cstdint>

#include "module/server/api.hpp"

/// What a command may allocate.
namespace everseen::redis_module {

/// Whether the command comes from the master or an AOF: there it was allowed already, and must have the same
/// effect.
/// @param ctx  null: a value is loaded. From a server's own files, and on a replica: to lack it would be
/// worse
///             than to exceed a limit, and a replica cannot tell its master's RESTORE from its own client's
[[nodiscard]] bool repeats_a_decision(module_api::context* ctx) noexcept;

/// How many bytes a command may allocate without exceeding `maxmemory`; all of these where the server evicts
/// keys. Unlimited if there is no maximum.
/// Cost: the server lists its memory, some 50 microseconds.
/// @param ctx  null: outside of commands
[[nodiscard]] std::uint64_t bytes_left(module_api::context* ctx);

/// Holds a filter to MAX_SIZE and to what `maxmemory` leaves, unless the decision was made elsewhere.
/// @param ctx    null: a value is loaded, as by RESTORE
/// @param bytes  of its bits, with those to come    @param more  of them to be allocated now
/// @throws full_error  it would be too large; with ENOMEM: for `maxmemory`
void must_fit(module_api::context* ctx, std::uint64_t bytes, std::uint64_t more);

}  // namespace everseen::redis_module
