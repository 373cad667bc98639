#pragma once

#include "everseen/server/http_routes.hpp"

namespace everseen::server {

/// Schema `plan`: what a number of keys costs in each structure. Asks no store.
[[nodiscard]] http_response answer_plan(http_call& c);

}  // namespace everseen::server
