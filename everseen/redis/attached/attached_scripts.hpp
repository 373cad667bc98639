#pragma once

#include "everseen/redis/script/script.hpp"

/// The scripts for filters that other programs keep: as scripts.hpp has them, but without state, epochs or
/// counts, since nothing but bits may be written to what is not ours.
///
/// A string may be missing or shorter than the filter, as the family has it: what is not there is 0. One that
/// is longer is not the filter that was attached.
namespace everseen::redis::attached_scripts {

/// Sets the bits of keys.
///
/// KEYS  token, string    ARGV  sequence, life of the token in ms, the most bytes that the string may have,
/// how many keys, their records, their last position
/// Returns a character a key: 0 fresh, 1 seen. `L1` the string is longer, `T1` it has another type, `O` as in
/// scripts::add.
[[nodiscard]] const script& add(unsigned probes);

/// Judges keys and changes nothing.
/// KEYS  string    ARGV  the most bytes, how many keys, their records    Returns as above.
[[nodiscard]] const script& check(unsigned probes);

/// The same for a chain of strings, of which the newest is written to. Before a key is added, the next string
/// begins where more than half of the bits of the newest are 1, which ends the call. A key that an older one
/// has is not added.
///
/// KEYS  token, cursor, the strings from the oldest on, and the one that would be next
/// ARGV  sequence, life of the token in ms, the most bytes of a string, how many keys, their records, the
/// number of the newest as it was planned for, the bits of a string, and those that hashes reach
/// Returns as add, `L<n>`, `T<n>` of the n-th string; fewer characters than keys where the next string was
/// begun. And where nothing was changed: `S<number>` the newest is another one; `M<n>` the n-th string is
/// missing, though there is a newer one; `H` the newest is missing, though the cursor says that it has begun;
/// `C` the cursor is missing, though there is a second string.
/// Cost: for each key a look into every string, so who calls says how many keys that may be.
[[nodiscard]] const script& add_growing(unsigned probes);

/// KEYS  cursor, the strings from the oldest on, and the one that would be next
/// ARGV  as check, then the number of the newest
/// Returns as check, and as add_growing where nothing could be judged.
[[nodiscard]] const script& check_growing(unsigned probes);

}  // namespace everseen::redis::attached_scripts
