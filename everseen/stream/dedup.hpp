#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "everseen/core/error.hpp"
#include "everseen/core/verdict.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/stream/block_reader.hpp"
#include "everseen/stream/output.hpp"
#include "everseen/stream/record_rule.hpp"

// clang-format off

/// The de-duplicating pipeline: records in, each key's first record out, in the order of the input.
///
///      reader       workers, any number at once                     partitions                     writer
///      one block    find records, hash, sort by partition          0       1       2       3       one block
///      at a time                                                                                   at a time
///                                                                                ┌───┐
///          ┌──────> A: block 7 ─────────────────────────────────────────────────>│ 7 │────────────> 7
///          │                                                             ┌───┐   └───┘
///      ────┼──────> B: block 8 ─────────────────────────────────────────>│ 8 │────────────────────> 8
///          │                                                     ┌───┐   └───┘
///          └──────> C: block 9 ─────────────────────────────────>│ 9 │────────────────────────────> 9
///                                                                └───┘
///
/// Blocks pass each partition in the order of the input, so "first" means first, and the output is the same
/// for any number of threads. Two blocks are never in one partition, but always in several: a wavefront, in
/// which every core does all kinds of work and none waits for a slower stage.

// clang-format on

namespace everseen {

struct dedup_options {
  char separator = '\n';
  field_rule key;
  std::optional<field_rule> time;
  /// Where `time` is not given, the time of all records of a block, asked when the block has been read, by
  /// one thread at a time; needed by filters with a window. A clock that was set back is taken to stand
  /// still.
  std::function<event_time()> clock{};

  /// How far ahead of `clock` the time in a record is believed; nothing: without limit. One time that is
  /// wrong by years would otherwise close the window for all that comes after it. A record beyond is treated
  /// like one without a readable time.
  std::optional<std::chrono::milliseconds> max_ahead{};

  enum class fate : std::uint8_t { fail, pass, drop };
  fate without_key = fate::fail;  ///< what happens to records that have no key, or no readable time
  /// What happens to records that are older than the window: `pass` writes them among the fresh ones.
  fate late = fate::drop;

  /// What happens when the filter's store stays away longer than its patience. `fail` ends the run. `pass`
  /// writes the records without an answer among the fresh ones, so that none is dropped, and goes on: a key
  /// may then be written twice. A full or damaged filter ends the run under either.
  enum class outage : std::uint8_t { fail, pass };
  outage on_outage = outage::fail;

  verdict wanted = verdict::fresh;  ///< records with this verdict are written
  unsigned threads = 1;             ///< useful_dedup_threads() says how many make sense

  /// Called after each block is written, by one thread at a time. May throw, which ends the run in order.
  std::function<void(const struct dedup_result&)> progress;
};

struct dedup_result {
  tally verdicts;  ///< complete only at the end; what outage::pass let through is `unknown`
  std::uint64_t records = 0;
  std::uint64_t without_key = 0;
  std::uint64_t first_late = 0;  ///< number, from 1, of the first record that was late; 0: there is none
  std::uint64_t bytes = 0;
  /// Set when the filter failed on the way. Nothing was read after that. Of what was read, the records with
  /// the wanted verdict were written; the `unknown` ones were neither added nor written, but see
  /// doc/redis.md, "Retries", for those that a server may have added before it went away.
  std::optional<batch_failure> failure;
  /// With outage::pass: why the first record was written without an answer. The run went on.
  std::optional<batch_failure> passed;
  std::uint64_t first_unknown = 0;  ///< with a failure: number, from 1, of the first record without an answer
};

/// Runs until the input ends or something fails.
///
/// What is in the output when it throws: after a read failure or an exception of options.progress, the wanted
/// records among all that were read whole; after an unreadable record, those before it, and no key of a later
/// one was added; after a failed write, what was written before it. Keys may have been added whose records
/// were not written only in the last case: doc/dedup.md, "Runs that end early".
/// @throws storage_error    reading or writing failed
/// @throws format_error     a record has no key and options.without_key is fail, or is late and
///                          options.late is fail: then the others that were read have been judged and written
/// @throws parameter_error  the filter has a window, and there are neither times nor a clock
/// Cost: 20 to 40 ns of one core a short line. Memory: some 10 MB a thread.
dedup_result deduplicate(block_reader& input, filter& seen, output& out, const dedup_options& options);

/// The same; `result` holds the counts of what was done also when it throws.    @param result  a new one
void deduplicate(block_reader& input, filter& seen, output& out, const dedup_options& options,
                 dedup_result& result);

/// How many threads to give deduplicate on a machine with so many cores (0: unknown): no more than a filter
/// has partitions, as two blocks are never in one; and at most 8, because reading and writing, which are one
/// thread's at a time, are the limit by then, while each thread costs its memory.
[[nodiscard]] unsigned useful_dedup_threads(unsigned cores, std::uint32_t partitions) noexcept;

/// The same for a filter on servers, where a thread mostly waits for an answer about one partition: enough
/// that their round trips overlap, and one more than partitions, to have the next block ready.
[[nodiscard]] unsigned useful_remote_dedup_threads(unsigned cores, std::uint32_t partitions) noexcept;

/// Bytes of a block that suit deduplicate: large enough to share locks and prefetch rings among many keys,
/// small enough that a block and its digests stay in L2.
inline constexpr std::size_t dedup_block_bytes = std::size_t{512} << 10;

}  // namespace everseen
