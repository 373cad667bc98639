#pragma once

#include "everseen/redis/script/script.hpp"

/// Scripts that change a partition kept as a journal: doc/format.md, "Journal".
///
/// Each script writes strings first and the state last, by one command. If a server is killed while it writes
/// its log, and loses the end of a call, it has either bytes after the end of the journal, which the next
/// call overwrites, or bits that the journal contains as well.
namespace everseen::redis::journal_scripts {

/// Appends a record if the journal ends at the expected position. A claim also updates the record of its lane
/// and increments counters.
///
/// A long record (journal_walk.hpp) is not an argument. The caller has written it, followed by the mark
/// for the next chunk, to a key of its own; this key becomes the chunk.
///
/// KEYS  state, chunk of the position; then, for a claim, the lanes of the job; then, for a long record, its
///       staged key and the chunk that it becomes (possibly that of the position); for a short record that
///       reaches the next chunk, that chunk
/// ARGV   1 expected end of the journal
///        2 end of the journal after the record (``: append nothing, only compare)
///        3 field of the writer, 4 sequence number of this call by the writer
///        5 offset of the position in its chunk
///        6 bytes of the record in this chunk (``: none), 7 its bytes in the next chunk (``: none)
///        8 duration of the requested append lease in ms (``: none)
///        9 length of the staged key (``: the record is short)
///       for a claim: 10 field of the job, 11 lane, 12 head of the lane's record, 13 offset from which the
///       record is kept, 14 its new head, 15 bytes to append to it, then name and increment of each counter
/// Returns `K` done, by this call or an earlier copy of it; `S`, end, begin: the journal ends elsewhere; `W`,
///         end, begin: another client has the append lease; `N`, id: the partition is sealed, and the filter
///         with this id is its successor; `J` no such job; `H` the lane's record has another head; `M` no
///         state; `D` the chunk is shorter than it was; `U` the staged key is missing. Except after `K`,
///         nothing but the lease was changed, and the staged key was removed.
///
/// An append lease excludes all other clients until its owner has appended a record, or it expires. It lets a
/// client with a long round trip append to a busy partition.
///
/// Lanes are written before the state. If a crash loses the end of a call, a lane may be ahead of the
/// journal. The client that finds such a record adds its keys again, which has no effect on keys that are
/// there.
[[nodiscard]] const script& append();

/// Acquires the lease for moving the checkpoint to the end of the journal.
///
/// The end of the journal is the only allowed target. If a server lost data in a restart, only the end
/// distinguishes its history from the client's.
///
/// KEYS  state
/// ARGV  position of the checkpoint, end of the journal, a random token for the lease, its duration in ms,
///       manifest of all segments that will be created or were abandoned, manifest of the abandoned ones
/// Returns `K`, manifest and counts of the checkpoint; `A`, manifest: these segments were abandoned; `S`,
///         begin: the checkpoint has moved; `E` the journal ends elsewhere; `L` another client has the lease;
///         `M` no state.
[[nodiscard]] const script& begin_checkpoint();

/// Renames a staged key to a segment.
///
/// KEYS  state, staged key (staged_key.hpp), segment, bitmap of its pieces
/// ARGV  the lease's token after the last step, its token after this step, bytes of the segment, lifetime in
///       ms, number of bits in the bitmap
/// Returns `K` done, by this call or an earlier copy of it; `S` another client has taken over; `M` no state;
///         `U` the staged key has another length, or lacks pieces. The staged key and the bitmap are gone.
[[nodiscard]] const script& place_segment();

/// Moves the beginning of the journal to the position of the segments.
///
/// KEYS  state, keys that are no longer needed: chunks, segments
/// ARGV  the lease's token, begin, manifest, counts, seconds for which a writer's last call is remembered
/// Returns `K`; `S` another client has taken over; `M` no state.
[[nodiscard]] const script& commit_checkpoint();

/// Seals the partition: nothing more is appended to its journal, its checkpoint stays, and another filter
/// succeeds this one.
///
/// KEYS  state    ARGV  id of the successor    Returns `K`; `N` it was sealed for another one; `M` no state.
[[nodiscard]] const script& seal();

/// Empties the partition: a checkpoint without keys, from which the journal continues.
///
/// KEYS  state, keys that are no longer needed: chunks, segments
/// ARGV  end of the journal, its new beginning, manifest, its old beginning, manifest of an unfinished
/// checkpoint
/// Returns `K`; `S` one of these has changed; `N` it is sealed; `J` a job may claim here; `M` no state.
[[nodiscard]] const script& empty();

}  // namespace everseen::redis::journal_scripts
