#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <string>

#include "everseen/core/redisbloom/bloom_request.hpp"

#include "module/server/api.hpp"

namespace everseen::redis_module {

inline constexpr std::uint64_t no_maximum = std::numeric_limits<std::uint64_t>::max();

/// What an administrator chooses: by words after the module's path in `loadmodule`, in any case, by lines of
/// the server's file, and by CONFIG SET. They have the names of RedisBloom's, where it has them.
struct module_settings {
  redisbloom::bloom_request create =
      redisbloom::default_bloom_request();  ///< ERROR_RATE, INITIAL_SIZE, EXPANSION
  bool redisbloom_layout = false;           ///< LAYOUT redisbloom: new filters are RedisBloom's, bit for bit
  std::uint64_t most_bytes = no_maximum;    ///< MAX_SIZE: of the bits of one filter; 0 there: no maximum
};

/// Threads: the server's main thread.
[[nodiscard]] const module_settings& settings() noexcept;

/// Reads the words of `loadmodule`. RedisBloom's words for other types have no effect, which the log says.
/// @return why a word was refused; empty: none was
[[nodiscard]] std::string read_settings(module_api::context* ctx, std::span<module_api::string*> words);

/// Makes them settings of the server, if it has such (Redis 7.0); the words are what they begin with.
/// RedisBloom's keep their names where the server allows that (Redis 8.0), all others begin with `everseen.`.
/// @return whether the server accepted them, and what its file says of them
[[nodiscard]] bool register_settings(module_api::context* ctx);

// What a command may allocate.

/// Whether the command comes from the master or an AOF: there it was allowed already, and must have the same
/// effect.
/// @param ctx  null: a value is loaded or copied. From a server's own files, and on a replica: to lack it
///             would be worse than to exceed a limit, and a replica cannot tell its master's RESTORE from its
///             own client's
[[nodiscard]] bool repeats_a_decision(module_api::context* ctx) noexcept;

/// Ends the server if the error is a lack of memory for what its master, or its AOF, has decided. It would go
/// on without the keys of this command and of all later ones, and Redis reports no error of theirs to anyone.
/// @param ctx  null: a value is loaded or copied
void end_if_it_lacks_memory(module_api::context* ctx, const std::exception& e) noexcept;

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
