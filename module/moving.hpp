#pragma once

#include <span>

#include "module/values.hpp"

namespace everseen::redis_module {

/// Whether some of these keys of a partition may be at another server of the cluster now.
///
/// The server looks after the keys that it sees in a command; of others it tells when the module asks it for
/// a command about them. It must be one command about several: where a slot is on its way, and one of them is
/// not here, both servers refuse that. About one key alone the server that it goes to would say that there is
/// none.
/// @pre keys.size() > 1
[[nodiscard]] inline bool is_moving(api::context* ctx, std::span<api::string* const> keys) {
  if ((api::get_context_flags(ctx) & api::flag_cluster) == 0) return false;
  return !called(api::call(ctx, "EXISTS", "v", keys.data(), keys.size())).succeeded();
}

}  // namespace everseen::redis_module
