#pragma once

#include <optional>
#include <string>

#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// When a filter ends: one field of its header says so. The other keys are given limits a day later, so that
// their memory comes back even if nobody comes again.
//
// A later end is told to the limits first, an earlier one to the header, so whoever dies on the way leaves
// limits that are too late, never too early. `limits` of the header says for which end they were set; who
// opens the filter to write sets them again where that is another one.

/// @param name  for messages
/// @throws parameter_error  it has jobs    @throws filter_ended
/// @throws storage_error    it is gone     @throws backend_error, format_error
void end_at(session& with, const std::string& name, const filter_identity& f, std::optional<event_time> when);

/// Gives all keys the limits of the end that the header says.
/// @throws storage_error  it is gone    @throws backend_error, format_error
void give_limits(session& with, const filter_identity& f);

}  // namespace everseen::redis
