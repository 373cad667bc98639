#pragma once

#include "everseen/redis/scripts.hpp"

/// The scripts of jobs: doc/format.md, "Jobs". Rules and answers as those of scripts.hpp.
namespace everseen::redis::scripts {

/// Judges events, adds the fresh ones, raises their counters and takes it down in the record of their lane.
///
/// KEYS  state, records of lanes, counters, the segments to look up, last those to write
/// ARGV  epoch, lane, the head that its record must have, from which byte on the record is kept, the field of
///       the state that names the job, `1` to stop with a `3` where there is no room, the positions of the
///       events, the places of their counters' names, how many of these an event has, then the events' keys
///       (script_text::segments), then the names of the counters
/// Returns a character an event, 0 fresh, 1 seen, 2 late, 3 no room; fewer than events where it stopped for
///         want of room. Nothing of those behind has happened. `P` the record has another head; `S`, `M`,
///         `C`, `D<n>`, `L<ms>` as in add().
[[nodiscard]] const script& claim(unsigned probes);

/// Makes a job, unless it is there.
/// KEYS  jobs    ARGV  job, what is kept of it, when the key ends (empty: never)    Returns what is kept; nil
///       where a job of the name is being ended.
[[nodiscard]] const script& open_job();

/// Marks a job as one that is being ended: nobody settles it from now on, or begins another of its name.
/// KEYS  jobs    ARGV  job    Returns 1 done, also if it was before; 0 there is no such job.
[[nodiscard]] const script& mark_ended();

/// Puts checkpoints down.
/// KEYS  jobs, checkpoints    ARGV  job, what is kept of it, when the key ends (empty: never), then lane,
///       checkpoint, ...
/// Returns 1 done, 0 there is no such job, or another of its name.
[[nodiscard]] const script& put_down();

}  // namespace everseen::redis::scripts
