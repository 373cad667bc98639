#pragma once

#include "everseen/redis/script/script.hpp"

/// The scripts for filters that other programs keep. They keep no state or counts, since everseen may
/// write nothing but bits to another program's keys.
///
/// The keys of a call belong to one string, or to a chain of strings whose newest is written to. A
/// string may be missing or shorter than the filter, if its family allows that: missing bits are 0. A longer
/// one is not the filter that was attached.
namespace everseen::foreign::attached_scripts {

/// Sets the bits of keys, except of keys that an older string of the chain has. A call that finds more than
/// half of the bits of the newest string set starts the next string and judges nothing; a call that sets that
/// many ends there.
///
/// KEYS  token, the strings, oldest first; for a chain, also the next string and the cursor; for a filter of
///       Redisson, also the hash with its sizes
/// ARGV  sequence, lifetime of the token in ms, maximum bytes of a string, number of keys, their records, the
///       lowest position that a string must reach, the number of the newest string when the call was planned
///       (empty: no chain), bits of a string, bits that hashes reach, the sizes that the hash must have
///       (empty: there is none)
/// Returns one character per key: 0 fresh, 1 seen; fewer if the newest string is more than half full, and
/// none
///         if the next string was started. `O` as in scripts::add.
///         Nothing was changed: `L<n>` string n is too long; `T<n>` it has another type;
///         `F<size> <hashIterations>` the hash has other sizes.
///         For a chain also: `S<number>` another string is the newest; `M<n>` string n is missing, but a
///         newer one exists; `H` the newest is missing, but the cursor includes it; `C` the cursor is
///         missing, but there is a second string.
/// Cost: each key is looked up in every string, so the caller limits the number of keys.
[[nodiscard]] const redis::script& add(unsigned probes);

/// Judges keys and changes nothing.
/// KEYS  as add, without the token
/// ARGV  the maximum length of a string, number of keys, their records, the number of the newest string, the
/// sizes
/// Returns as above.
[[nodiscard]] const redis::script& check(unsigned probes);

}  // namespace everseen::foreign::attached_scripts
