#pragma once

#include <cstdint>
#include <string_view>

#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen::redis {

/// Names what a partition adds to the counters of a job; those that are 0 are left out.
///
/// In steps, as a server does nothing else meanwhile.
/// @throws backend_error    @throws format_error  a counter is no number, or the key has another type
void visit_counters_at(session& with, const route& lanes, const ledger::counter_visitor& visit);
/// The same, of a job's lanes in a partition.
void visit_counters_of(session& with, const remote_filter& f, std::uint32_t partition, std::string_view job,
                       const ledger::counter_visitor& visit);

}  // namespace everseen::redis
