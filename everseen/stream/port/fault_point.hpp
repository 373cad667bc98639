#pragma once

#include <string_view>

namespace everseen {

/// A point where a job can be made to die, as by kill -9, to prove that correctness does not depend on where
/// it dies.
///
/// EVERSEEN_DIE_AT=claimed:3 kills the process when it reaches `claimed` for the third time.
/// EVERSEEN_STOP_AT=claimed:3 stops it there, as by kill -STOP, until it is continued. The points are in
/// every build, so the tests kill the same program that users run; anybody who can set a process's
/// environment could kill it anyway. Points of a job, in the order of a batch: `read`, `claimed`,
/// `half_put`, `put`, `half_committed` (a transaction that has its offsets), `committed` (by the sink),
/// `settled` (in the ledger), `half_shown` (by a sink that shows only what is settled), `accounted` (by the
/// source). Threads: any. Cost: two comparisons if the variables are not set.
void fault_point(std::string_view name) noexcept;

}  // namespace everseen
