#pragma once

#include "module/server/values.hpp"

namespace everseen::redis_module {

/// Gives a key the expiry of another key, or none if that has none. Keys that the module creates for a state
/// live as long as the state.
/// @return whether the server did it
[[nodiscard]] bool end_like(api::context* ctx, api::string* other, api::string* key);

}  // namespace everseen::redis_module
