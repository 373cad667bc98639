#pragma once

#include "everseen/redis/scripts.hpp"

/// The scripts of jobs: doc/format.md, "Jobs". Rules and answers as those of scripts.hpp.
namespace everseen::redis::scripts {

/// Judges events, takes it down in the record of their lane together with their counters, and adds the fresh
/// ones.
///
/// KEYS  state, records of lanes, the segments to look up, last those to write
/// ARGV  epoch, lane, the head that its record must have, from which byte on the record is kept, the field of
///       the state that names the job, `1` to stop with a `3` where there is no room, the positions of the
///       events, the places of their counters' names, how many of these an event has, then the events' keys
///       (script_text::segments), then the names of the counters
/// Returns a character an event, 0 fresh, 1 seen, 2 late, 3 no room; fewer than events where it stopped for
///         want of room. Nothing of those behind has happened. `P` the record has another head; `S`, `M`,
///         `C`, `D<n>` as in add().
[[nodiscard]] const script& claim(unsigned probes);

/// Makes a job, unless it is there.
/// KEYS  jobs    ARGV  job, what is kept of it, when the key ends (empty: never)    Returns what is kept; nil
///       where a job of the name is being ended.
[[nodiscard]] const script& open_job();

/// Marks a job as one that is being ended: nobody settles it from now on, or begins another of its name.
/// Where it is marked already, the new mark takes the place of the old one.
/// KEYS  jobs    ARGV  job, what is kept of it, who ends it: 32 characters    Returns 1 done, 0 there is no
///       such job, or another of its name.
[[nodiscard]] const script& mark_ended();

/// Removes what a partition keeps of a job.
/// KEYS  state, records of lanes    ARGV  epoch, the field of the state that names the job
/// Returns 1 done, 0 it has another epoch.
[[nodiscard]] const script& end_in_partition();

/// Removes the rest of a job that is being ended: then its name is free.
/// KEYS  jobs, checkpoints    ARGV  job, who ends it    Returns 1 done, 0 he does not.
[[nodiscard]] const script& finish_end();

/// Puts checkpoints down.
/// KEYS  jobs, checkpoints    ARGV  job, what is kept of it, when the key ends (empty: never; `list`:
///       with the first key), then lane, checkpoint, the position where the lane must be so far (empty:
///       anywhere), ...
/// Returns 1 done, 0 there is no such job, or another of its name, 2 nothing done: a lane is elsewhere.
[[nodiscard]] const script& put_down();

}  // namespace everseen::redis::scripts
