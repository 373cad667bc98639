#pragma once

#include "module/api.hpp"

namespace everseen::redis_module {

/// Whether somebody must be told what changes: the AOF, a replica, or the backlog from which a replica that
/// lost its connection will go on.
///
/// Who follows by replication can be seen only in INFO, which costs as much as judging a thousand keys.
/// Nobody begins to follow without a fork, which makes the copy that he begins with, or a change of roles; so
/// INFO is asked after these alone, and now and then while somebody follows.
[[nodiscard]] bool has_followers(module_api::context* ctx);

/// Whether a child shares the memory of the server, which saves a snapshot or writes the AOF anew: then every
/// page of memory that is written to is copied first.
[[nodiscard]] bool has_child(module_api::context* ctx);

/// Listens to what may bring followers, and children.    @pre the module is being loaded
void watch_followers(module_api::context* ctx);

}  // namespace everseen::redis_module
