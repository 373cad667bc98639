#pragma once

#include "everseen/store/port/store.hpp"
#include "everseen/telemetry/event_log.hpp"

namespace everseen::serve {

/// Asks a store once before it is served, and writes its warnings to the log.
/// @param log  null: no log
/// @return false  it is unavailable, which is accepted: the server retries while it serves
/// @throws error  a permanent error, such as a wrong password
[[nodiscard]] bool is_available(store& place, telemetry::event_log* log);

/// @throws backend_error  the store does not answer
void log_warnings(const store& source, telemetry::event_log* log);

}  // namespace everseen::serve
