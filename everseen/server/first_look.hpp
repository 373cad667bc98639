#pragma once

#include "everseen/store/store.hpp"
#include "everseen/telemetry/event_log.hpp"

namespace everseen::server {

/// Asks a store once, before it is served, and tells the log what it warns of.
/// @param log  null: nobody is told
/// @return false  it is away, as it may be at any time: whoever serves it will find out when it is there
/// @throws error  what no waiting mends, such as a wrong password
[[nodiscard]] bool is_there(store& place, telemetry::event_log* log);

/// @throws backend_error  the store does not answer
void tell_warnings(const store& of, telemetry::event_log* log);

}  // namespace everseen::server
