#pragma once

#include "everseen/redis/script/script.hpp"

/// The scripts for filters that other programs keep. They keep no state, epochs or counts, since everseen may
/// write nothing but bits to another program's keys.
///
/// The keys of a call belong to one string, or to a chain of strings of which the newest is written to. A
/// string may be missing or shorter than the filter, if its family allows that: missing bits are 0. A longer
/// one is not the filter that was attached.
namespace everseen::redis::attached_scripts {

/// Sets the bits of keys. A key that an older string of the chain has is not added. Before a key is added,
/// the next string begins where more than half of the bits of the newest are 1, which ends the call.
///
/// KEYS  token, the strings from the oldest on; of a chain also the string that would be next, and the
/// cursor;
///       of a filter of Redisson also the hash with its sizes
/// ARGV  sequence, life of the token in ms, the most bytes of a string, how many keys, their records, the
///       position that a string reaches at least, the number of the newest as it was planned for (empty: no
///       chain), the bits of a string, those that hashes reach, and the sizes that the hash must have (empty:
///       there is none)
/// Returns a character a key: 0 fresh, 1 seen; fewer than keys where the next string was begun. `O` as in
/// scripts::add.
///         Where nothing was changed: `L<n>` the n-th string is longer; `T<n>` it has another type;
///         `F<size> <hashIterations>` the hash has other sizes.
///         Of a chain also: `S<number>` the newest is another one; `M<n>` the n-th string is missing, though
///         there is a newer one; `H` the newest is missing, though the cursor says that it has begun; `C` the
///         cursor is missing, though there is a second string.
/// Cost: for each key a look into every string, so the caller says how many keys that may be.
[[nodiscard]] const script& add(unsigned probes);

/// Judges keys and changes nothing.
/// KEYS  as add, without the token
/// ARGV  the maximum length of a string, number of keys, their records, the number of the newest string, the
/// sizes
/// Returns as above.
[[nodiscard]] const script& check(unsigned probes);

}  // namespace everseen::redis::attached_scripts
