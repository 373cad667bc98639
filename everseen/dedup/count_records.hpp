#pragma once

#include <cstdint>

#include "everseen/dedup/dedup.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/dedup/record/block_reader.hpp"

namespace everseen {

/// What is written of records that are counted.
struct counted_records {
  enum class keys : std::uint8_t { all, repeated, unrepeated };
  keys wanted = keys::all;  ///< how often a key must occur
  /// Of a key with several records, the one that is written, and whose place in the input is its own.
  enum class occurrence : std::uint8_t { first, last };
  occurrence kept = occurrence::first;
  bool with_counts = true;               ///< the number of occurrences before each record, as `uniq -c` does
  std::uint64_t max_bytes = UINT64_MAX;  ///< of memory
};

/// Writes one record of each key, in the order of the input, once the input has ended.
///
/// A Bloom filter cannot do this: it knows neither how often a key occurred, nor which key it was, nor what
/// follows. So this keeps a record of each key and 128 bits of its hash in memory, and uses no filter. The
/// result is exact unless two keys have the same 128 bits. A record without a key counts as one that occurs
/// once.
///
/// It uses only the options about records and keys, and `progress`.
/// @param result  a new one: `fresh` are the different keys, `seen` their repeats
/// @throws storage_error  reading or writing failed, or more than max_bytes of memory would be needed
/// @throws format_error   a record has no key and options.without_key is fail; nothing was written
/// Cost: about 60 bytes for each different key and its record; with the last occurrences, up to twice as
/// much. Threads: one.
void count_records(block_reader& input, output& out, const dedup_options& options,
                   const counted_records& counted, dedup_result& result);

}  // namespace everseen
