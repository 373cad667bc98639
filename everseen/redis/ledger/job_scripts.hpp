#pragma once

#include "everseen/redis/script/script.hpp"

/// What the list of a filter's jobs does on a server in one step.
namespace everseen::redis::job_scripts {

/// Removes a job from the list; its id stays as one to be removed.
/// KEYS list    ARGV job, its entry, the name of what is being removed    Returns 1 done, 0 it is another.
[[nodiscard]] const script& unlist();

/// Adds a job to the list, unless one of its name is there; the list expires when the states do.
/// KEYS list, header    ARGV job, its entry, how much later than the filter it expires    Returns 1 done, 0
/// there is no header, 2 the filter is being rebuilt.
[[nodiscard]] const script& enlist();

/// Lets a job claim in a partition.    KEYS state    ARGV field of the job    Returns 1; 0 there is no such
/// state.
[[nodiscard]] const script& mark_partition();

/// Writes checkpoints.
/// KEYS list, checkpoints    ARGV job, its entry, then lane, checkpoint, the position where the lane must be
/// so far (empty: anywhere), ...    Returns 1 done, 0 there is no such job, or another of its name, 2 nothing
/// done: a lane is elsewhere.
[[nodiscard]] const script& put_down();

}  // namespace everseen::redis::job_scripts
