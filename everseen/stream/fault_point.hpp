#pragma once

#include <string_view>

namespace everseen {

/// Where a job can be made to die, as by kill -9, to prove that nothing depends on where it does.
///
/// EVERSEEN_DIE_AT=claimed:3 ends the process when it comes by `claimed` for the third time, and
/// EVERSEEN_STOP_AT=claimed:3 has it stand still there, as by kill -STOP, until it is continued. Nothing else
/// reads them, and whoever sets the environment of a process could kill it anyway; so it is in every build,
/// and what tests kill is what users run. Points of a job, in the order of a batch: `read`, `claimed`,
/// `half_put`, `put`, `half_committed` (a transaction that has its offsets), `committed` (by the sink),
/// `settled` (in the ledger), `half_shown` (by a sink that shows what is settled), `accounted` (by the
/// source). Threads: any. Cost: two comparisons where the variables are not set.
void fault_point(std::string_view name) noexcept;

}  // namespace everseen
