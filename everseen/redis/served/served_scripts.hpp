#pragma once

#include <string>
#include <string_view>

#include "everseen/redis/script/script.hpp"

namespace everseen::redis {

/// The scripts that everseen runs inside Redis. Each is atomic, touches only the keys it is given (all in one
/// slot), and first checks that the partition's epoch is the one the caller planned for. If it is not, the
/// script changes nothing and answers `S` (stale).
///
/// Positions are sent as decimal strings (positions.hpp): Redis's Lua formats a number with %.17g each time
/// it is passed to a command, which costs more than the command.
namespace scripts {

/// Judges keys and adds the fresh ones.
///
/// Keys of several slices go together: each names the segment that it is written to, and is compared with
/// all others.
///
/// KEYS  state, token, the segments to look up, last those to write
/// ARGV  epoch, sequence, life of the token in ms, `1` to mark keys that find no room and continue instead of
///       stopping, then the keys (script_text::segments)
/// Returns a character a key: 0 fresh, 1 seen, 2 late, 3 no room; fewer than keys where it stopped for want
///         of room.
///         `S` stale, `M` no state, `C` no count, `D<n>` segment n is missing or has another length.
///
/// A batch is remembered with its answer under the token key; the same sequence gets the same answer again,
/// and the token a new life: a write, too, so that a WAIT behind the call waits for what the first attempt
/// wrote.
///
/// A lower sequence than the remembered one comes from a connection that was given up. No client waits for
/// it, and it must not push out the memory of a later batch: it is answered `O` (old).
[[nodiscard]] const script& add(unsigned probes);

/// Judges keys and changes nothing.
///
/// KEYS  state, the segments    ARGV  epoch, then the keys as above, none of the segments written to
/// Returns as above.
[[nodiscard]] const script& check(unsigned probes);

/// Judges events of a job (doc/format.md, "Jobs"), writes the record of their lane and their counters, and
/// adds the fresh ones.
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

/// Makes a new segment, with zeros, by at most a given length a call. The call that completes it also
/// replaces the list of the partition's segments by the next one. Bytes that are there stay as they are. A
/// segment that is never completed expires.
///
/// KEYS  state, the new segment, the segments to remove
/// ARGV  epoch, bytes of the new segment, the most bytes to add now, life of an incomplete segment in ms,
/// next epoch,
///       next manifest, count field of the new segment, the count fields to remove
/// Returns `K` the list names the segment; a number: the length so far; `S` stale, `M` no state, `D1` the
/// segment is longer than it may be. A complete segment expires when the state does.
[[nodiscard]] const script& grow();

/// Forgets all keys of a partition.
///
/// KEYS  state, all segments
/// ARGV  epoch, a random word of the caller, manifest of no segments, the count fields to forget
/// Returns `K` done, by this call or an earlier copy of it; `S` stale, `M` no state, `N` it is sealed, `J` a
/// job may claim here.
[[nodiscard]] const script& empty();

}  // namespace scripts
}  // namespace everseen::redis
