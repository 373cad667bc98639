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
/// Keys of several slices can share a call: each names the segment that it is written to, and is looked up in
/// all others.
///
/// KEYS  state, token, the segments to look up, the segments to write last
/// ARGV  epoch, sequence, lifetime of the token in ms, `1` to mark keys without room and continue instead of
///       stopping, then the keys (script_text::segments)
/// Returns one character per key: 0 fresh, 1 seen, 2 late, 3 no room; fewer if it stopped at a full segment.
///         `S` stale, `M` no state, `C` no count, `D<n>` segment n is missing or has another length.
///
/// The token key remembers the last batch of a client and its answer. The same sequence gets the same answer
/// again. This also renews the token's lifetime, which is a write, so that a WAIT after the call covers what
/// the first attempt wrote.
///
/// A lower sequence than the remembered one comes from an abandoned connection. No client waits for its
/// answer, and it must not replace the memory of a later batch: it is answered `O` (old).
[[nodiscard]] const script& add(unsigned probes);

/// Judges keys and changes nothing.
///
/// KEYS  state, the segments    ARGV  epoch, then the keys as above, without segments to write
/// Returns as above.
[[nodiscard]] const script& check(unsigned probes);

/// Judges events of a job (doc/format.md, "Jobs"), writes the record of their lane and their counters, and
/// adds the fresh ones.
///
/// KEYS  state, records of lanes, the segments to look up, the segments to write last
/// ARGV  epoch, lane, the expected head of its record, offset from which the record is kept, the field of the
///       state that names the job, `1` to stop with a `3` at a full segment, the positions of the events, the
///       indexes of their counters' names, the number of these per event, then the events' keys
///       (script_text::segments), then the names of the counters
/// Returns one character per event: 0 fresh, 1 seen, 2 late, 3 no room; fewer if it stopped at a full
/// segment,
///         without an effect of the later events. `P` the record has another head; `J` the job was ended: the
///         state lacks its field; `S`, `M`, `C`, `D<n>` as in add().
[[nodiscard]] const script& claim(unsigned probes);

/// Creates a segment of zeros, at most a given length per call. The call that completes it also replaces the
/// partition's list of segments. Existing bytes are kept. A segment that is never completed expires.
///
/// KEYS  state, the new segment, the segments to remove
/// ARGV  epoch, bytes of the new segment, maximum bytes to add now, lifetime of an incomplete segment in ms,
///       next epoch, next manifest, count field of the new segment, the count fields to remove
/// Returns `K` the segment is complete and listed; a number: its length so far; `S` stale, `M` no state, `D1`
///         the segment is too long. A complete segment expires with the state.
[[nodiscard]] const script& grow();

/// Empties a partition.
///
/// KEYS  state, all segments
/// ARGV  epoch, a random token of the caller, manifest of no segments, the count fields to remove
/// Returns `K` done, by this call or an earlier copy of it; `S` stale, `M` no state, `N` it is sealed, `J` a
/// job may claim here.
[[nodiscard]] const script& empty();

}  // namespace scripts
}  // namespace everseen::redis
