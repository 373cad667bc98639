#pragma once

#include "module/values.hpp"

namespace everseen::redis_module {

/// Whether a key, which a command did not name, may be at another server of the cluster now.
///
/// The server looks after the keys that it sees in a command; of others it tells when the module asks it for
/// a command about them, which it then refuses.
[[nodiscard]] inline bool is_moving(api::context* ctx, api::string* key) {
  if ((api::get_context_flags(ctx) & api::flag_cluster) == 0) return false;
  return !called(api::call(ctx, "EXISTS", "s", key)).succeeded();
}

}  // namespace everseen::redis_module
