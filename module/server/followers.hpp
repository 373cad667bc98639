#pragma once

#include "module/server/api.hpp"

namespace everseen::redis_module {

/// Whether changes must be replicated: to the AOF, a replica, or the backlog from which a replica resumes
/// after a lost connection.
///
/// Only INFO shows whether replication is active, and it costs as much as judging a thousand keys.
/// Replication starts only with a fork, which creates the initial copy, or with a change of roles. So INFO is
/// read only after these, and about once a second while replication is active.
[[nodiscard]] bool has_followers(module_api::context* ctx);

/// Whether a child process shares the server's memory, to save a snapshot or rewrite the AOF. Every page that
/// is written to is then copied first.
[[nodiscard]] bool has_child(module_api::context* ctx);

/// Subscribes to the events that start replication or child processes.    @pre the module is being loaded
void watch_followers(module_api::context* ctx);

}  // namespace everseen::redis_module
