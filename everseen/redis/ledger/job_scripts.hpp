#pragma once

#include "everseen/redis/script/script.hpp"

/// Atomic changes of a filter's list of jobs.
namespace everseen::redis::job_scripts {

/// Removes a job from the list; its id remains until its keys are removed.
/// KEYS list    ARGV job, its entry, the name of the remaining entry    Returns 1 done, 0 it is another job.
[[nodiscard]] const script& unlist();

/// Adds a job to the list, unless one of its name is there.
/// KEYS list, header    ARGV job, its entry    Returns 1 done, 0 there is no header, 2 the filter is being
/// rebuilt.
[[nodiscard]] const script& enlist();

/// Allows a job to claim in a partition that clients judge.    KEYS state    ARGV field of the job    Returns
/// 1; 0 there is no such state.
[[nodiscard]] const script& mark_partition();

/// Allows a job to claim in a partition that its server judges, for now: its records exist from then on.
/// KEYS value, records    ARGV the time limit of the records in ms    Returns 1; 0 there is no such value.
[[nodiscard]] const script& begin_records();

/// Writes checkpoints.
/// KEYS list, checkpoints    ARGV job, its entry, then for each lane: its name, checkpoint, and the position
/// that it must have so far (empty: any)    Returns 1 done, 0 there is no such job, or another of its name, 2
/// nothing done: a lane has another position.
[[nodiscard]] const script& put_down();

}  // namespace everseen::redis::job_scripts
