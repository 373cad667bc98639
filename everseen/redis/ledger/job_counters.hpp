#pragma once

#include "everseen/redis/transport/session.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen::redis {

/// Names what a partition adds to the counters of a job; those that are 0 are left out.
///
/// In steps, as a server does nothing else meanwhile.
/// @param lanes  the hash of the job's records
/// @throws backend_error    @throws format_error  a counter is no number, or the key has another type
void visit_counters_at(session& with, const route& lanes, const ledger::counter_visitor& visit);

}  // namespace everseen::redis
