#pragma once

#include <span>

#include "module/server/values.hpp"

namespace everseen::redis_module {

/// Whether some of these keys of a partition may now be on another server of the cluster.
///
/// The server checks only the keys in a command's arguments; for others, the module must run a command on
/// them. It must be one command on several keys: during a slot migration, if one of the keys is missing, both
/// servers refuse it. For a single key, the target server would answer that it does not exist.
/// @pre keys.size() > 1
[[nodiscard]] inline bool is_moving(api::context* ctx, std::span<api::string* const> keys) {
  if ((api::get_context_flags(ctx) & api::flag_cluster) == 0) return false;
  return !called(api::call(ctx, "EXISTS", "v", keys.data(), keys.size())).succeeded();
}

}  // namespace everseen::redis_module
