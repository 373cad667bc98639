#pragma once

#include "everseen/dedup/dedup.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/dedup/record/block_reader.hpp"

namespace everseen {

/// Writes each key's first record with the number of its occurrences before it, as `uniq -c` does, in the
/// order of the first occurrences, once the input has ended.
///
/// A Bloom filter cannot count: it knows neither how often a key occurred nor which key it was. So this keeps
/// the first record of each key and 128 bits of its hash in memory, and uses no filter. The counts are exact
/// unless two keys have the same 128 bits.
///
/// It uses only the options about records and keys, `wanted` (`seen`: keys that occur more than once) and
/// `progress`.    @param result  a new one: `fresh` are the different keys, `seen` their repeats
/// @throws storage_error  reading or writing failed
/// @throws format_error   a record has no key and options.without_key is fail; nothing was written
/// Cost: about 60 bytes for each different key and its first record. Threads: one.
void count_records(block_reader& input, output& out, const dedup_options& options, dedup_result& result);

}  // namespace everseen
