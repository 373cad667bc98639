#pragma once

#include "module/values.hpp"

namespace everseen::redis_module {

/// Lets a key expire when another one does, or, like that one, never. What the module makes beside a state
/// lives as long as the state.
/// @return whether the server did it
[[nodiscard]] bool end_like(api::context* ctx, api::string* other, api::string* key);

}  // namespace everseen::redis_module
