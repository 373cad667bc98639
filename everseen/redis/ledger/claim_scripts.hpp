#pragma once

#include "everseen/redis/script/script.hpp"

/// The script of jobs: doc/format.md, "Jobs". Rules and answers as those of scripts.hpp.
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
///         want of room. Nothing of those behind has happened. `P` the record has another head; `J` the state
///         lacks the job's field: the job was ended; `S`, `M`, `C`, `D<n>` as in add().
[[nodiscard]] const script& claim(unsigned probes);

/// Reads the state of a partition and the record of a lane at one moment.
///
/// KEYS  state, records of lanes    ARGV  lane
/// Returns both: all fields, and the record or nil. A key of another type has its error in its place.
[[nodiscard]] const script& look();

}  // namespace everseen::redis::scripts
