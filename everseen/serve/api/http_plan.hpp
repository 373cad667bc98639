#pragma once

#include "everseen/serve/http/http_routes.hpp"

namespace everseen::serve {

/// Schema `plan`: the size of each structure for a number of keys. Asks no store.
[[nodiscard]] http_response answer_plan(http_call& c);

}  // namespace everseen::serve
