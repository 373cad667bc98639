#pragma once

#include "everseen/redis/script/script.hpp"

/// Scripts that change a partition kept as a journal: doc/format.md, "Journal".
///
/// Each script writes strings first and the state last, by one command. If a server is killed while it writes
/// its log, and loses the end of a call, it has either bytes after the end of the journal, which the next
/// call overwrites, or bits that the journal contains as well.
namespace everseen::redis::journal_scripts {

/// Adds a record where the journal ends, if it ends where the caller believes; and, for a claim, goes on with
/// the record of a lane and raises counters.
///
/// A long record (journal_position.hpp) is not among the words: the caller has put it, and the mark for the
/// next chunk behind it, to a key of its own, which becomes the chunk.
///
/// KEYS  state, chunk of the position; for a claim the lanes of the job; for a long record its staged key
///       and the chunk that it becomes, which may be that of the position; for another one the chunk after
///       the position's, where the record reaches there
/// ARGV  1 position, 2 position behind the record (``: add nothing, only compare), 3 field of the writer, 4
///       number of this call among those of the writer, 5 offset of the position in its chunk, 6 bytes of the
///       record in this chunk (``: none), 7 its bytes in the next one (``: none), 8 for how many ms the
///       caller asks for a turn (``: it does not), 9 for a long record the length of the staged key (``: the
///       record is short); for a claim: 10 field of the job, 11 lane, 12 head of the lane's record, 13 from
///       which of its bytes on the record is kept, 14 its new head, 15 what is put behind it, then name and
///       increment of each counter
/// Returns `K` done, by this call or an earlier copy of it; `S`, end, begin: the journal ends elsewhere; `W`
///         and the same: it is another client's turn; `N` and an id: the partition is sealed, and the filter
///         of this id succeeds; `J` there is no such job; `H` the lane's record has another head; `M` no
///         state; `D` the chunk is shorter than it was; `U` the staged key is missing. Except for `K` nothing
///         was changed, and the staged key is gone.
///
/// A turn keeps all others out until the one who has it has added a record, or its time is over: so a client
/// that is far away from a busy partition gets its word in.
///
/// The lanes are written before the state: where the end of a call is lost, a lane may be ahead of the
/// journal, and whoever finds the record adds its keys again, which changes nothing where they are.
[[nodiscard]] const script& append();

/// Asks to be the one who moves the checkpoint on to where the journal ends.
///
/// Only to there, as a server that came back with less has no other place that a client may know: whoever is
/// the one in turn has the history that the server has, until the server loses the turn as well.
///
/// KEYS  state    ARGV  where the checkpoint was, where the journal ends, a random word, for how many ms, a
///       manifest of all segments that will be made or are left of abandoned ones, that of the abandoned ones
/// Returns `K`, manifest and counts of the checkpoint; `A`, manifest: these were abandoned; `S`, begin: it
/// has
///         moved; `E` the journal ends elsewhere; `L` somebody else is at it; `M` no state.
[[nodiscard]] const script& begin_checkpoint();

/// Renames a staged key to a segment.
/// KEYS  state, staged key, segment    ARGV  the word as the last step left it, the word that this step
/// leaves, bytes of the segment, lifetime in ms
/// Returns `K` done, by this call or an earlier copy of it; `S` another client has taken over; `M` no state;
/// `U` the staged key has another length. The staged key is gone.
[[nodiscard]] const script& place_segment();

/// Moves the beginning of the journal to the position of the segments.
///
/// KEYS  state, keys that are no longer needed: chunks, segments
/// ARGV  the word, begin, manifest, counts, how many seconds a writer's last call is remembered
/// Returns `K`; `S` another client has taken over; `M` no state.
[[nodiscard]] const script& commit_checkpoint();

/// Sets the expiry time of the partition's keys, including those created from now on, unless a later round
/// has been here (filter_expiry.hpp). A client that is moving the checkpoint is shut out, since its segments
/// have the previous limit.
///
/// KEYS  state, other keys of the partition
/// ARGV  the round, when, in ms since 1970 (empty: never)
/// Returns `K`; `S` and the later round: nothing was changed; `M` no state.
[[nodiscard]] const script& limit();

/// Seals the partition: its journal ends for good, its checkpoint stays where it is, and another filter
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
