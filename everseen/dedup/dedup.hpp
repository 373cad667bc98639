#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/field_rule.hpp"
#include "everseen/dedup/record/key_form.hpp"
#include "everseen/dedup/record/record_format.hpp"
#include "everseen/dedup/time/time_reader.hpp"
#include "everseen/filter/filter.hpp"

// clang-format off

/// The de-duplicating pipeline: records in, each key's first record out, in the order of the input.
///
///      reader       workers, any number in parallel                    partitions                     writer
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
/// Blocks pass each partition in the order of the input. So "first" is exact, and the output does not depend
/// on the number of threads. A partition holds one block at a time, and several partitions work in parallel.
/// In this wavefront each core does all kinds of work, and none waits for a slower stage.

// clang-format on

namespace everseen {

struct dedup_options {
  record_format format;
  std::vector<field_rule> key;  ///< empty: the whole record; of several fields: event_rule
  key_form form{};              ///< of the record, or of each field
  std::optional<field_rule> time;
  time_reader times{};  ///< reads that field
  /// Without `time`: the time of all records of a block, asked after the block has been read, by one thread
  /// at a time. Filters with a window need one of the two. If the clock is set back, the last time is used,
  /// and no time is earlier than the beginning of the filter's newest slice. So the clock never makes a line
  /// late.
  std::function<event_time()> clock{};

  /// How far ahead of `clock` a record's time may be; nothing: without limit. One time that is years ahead
  /// would close the window for everything after it. A record that is too far ahead is treated like one
  /// without a readable time.
  std::optional<std::chrono::milliseconds> max_ahead{};

  enum class fate : std::uint8_t { fail, pass, drop };
  fate without_key = fate::fail;        ///< what to do with records that have no key, or no readable time
  fate no_record = fate::drop;          ///< what to do with lines that are no records: is_no_record()
  bool may_pass_keyless = true;         ///< whether a message may advise `pass` for these two
  std::optional<std::string> header{};  ///< the line that names the fields, if one does
  [[nodiscard]] fate fate_of(record_fault fault) const noexcept {
    return is_no_record(fault) ? no_record : without_key;
  }
  /// What to do with records that are older than the window: `pass` writes them like fresh ones.
  fate late = fate::drop;

  /// What to do if the filter's store stays unavailable for longer than its retry policy allows. `fail` ends
  /// the run. `pass` writes the unanswered records like fresh ones, so none is lost, and continues; a key may
  /// then be written twice. A full or damaged filter ends the run in either case.
  enum class outage : std::uint8_t { fail, pass };
  outage on_outage = outage::fail;

  /// When the keys of a block are added, relative to the output of its records. Reading, parsing and hashing
  /// run ahead in any case.
  enum class adding_order : std::uint8_t {
    ahead,         ///< before earlier blocks are written: a run that is killed loses a block for each thread
    before_block,  ///< only when all records before the block are written: it loses the records of one block
    after_block,   ///< once its records are written: it repeats the records of one block, and loses none
  };
  adding_order adding_keys = adding_order::ahead;  ///< after_block needs a filter that adds_after_effects()
  /// Without adding_order::ahead: called by one thread at a time when everything written so far should have
  /// arrived: before a block is judged, or before the keys of a written one are added. It gets the number of
  /// records of that block. It may wait, and throw, which ends the run in order.
  std::function<void(std::size_t records)> settle_output{};

  verdict wanted = verdict::fresh;  ///< records with this verdict are written
  unsigned threads = 1;             ///< useful_dedup_threads() recommends a number

  /// Called after each block is written, by one thread at a time. It may throw, which ends the run in order.
  std::function<void(const struct dedup_result&)> progress;
};

struct dedup_result {
  tally verdicts;  ///< complete only at the end; records that outage::pass let through are `unknown`
  std::uint64_t records = 0;
  std::uint64_t written = 0;  ///< records
  std::uint64_t without_key = 0;
  std::uint64_t malformed = 0;      ///< that cannot be read at all, as broken JSON
  std::string first_without_key{};  ///< where the first of both is, and why it has no key
  std::uint64_t first_late = 0;     ///< number, from 1, of the first late record; 0: none
  std::string first_late_place{};   ///< and where it is, as in "line 5 of access.csv"
  std::uint64_t bytes = 0;
  /// Set if the filter failed during the run. Nothing was read after that. Of the records read, those with
  /// the wanted verdict were written; the `unknown` ones were neither added nor written. Exception: a server
  /// may have added some of them before it failed (doc/redis.md, "Retries").
  std::optional<batch_failure> failure;
  /// With outage::pass: why the first record was written without an answer. The run continued.
  std::optional<batch_failure> passed;
  std::uint64_t first_unknown = 0;  ///< with a failure: number, from 1, of the first record without an answer
  std::string first_unknown_place{};  ///< and where it is
};

/// Runs until the input ends or something fails.
///
/// The output after an exception: after a read failure or an exception of options.progress, the wanted
/// records among all that were read whole; after an unreadable record, those before it, and no key of a
/// later record was added; after a failed write, everything written before it. Only after a failed write may
/// keys have been added whose records were not written, or records written whose keys were not added, as
/// options.adding_keys says: doc/dedup.md, "Runs that end early".
/// @throws storage_error    reading or writing failed
/// @throws format_error     a record has no key and options.without_key is fail; or a record is late and
///         options.late is fail: the other records read have then been judged and written
/// @throws parameter_error  the filter has a window, and there are neither times nor a clock
/// Cost: 20 to 40 ns of one core a short line. Memory: some 10 MB a thread.
dedup_result deduplicate(block_reader& input, filter& known_keys, output& out, const dedup_options& options);

/// The same; if it throws, `result` has the counts up to that point.    @param result  a new one
void deduplicate(block_reader& input, filter& known_keys, output& out, const dedup_options& options,
                 dedup_result& result);

/// Recommended threads for deduplicate on a machine with this many cores (0: unknown). At most one a
/// partition, as a partition holds one block at a time. At most 8: reading and writing are serial and limit
/// throughput by then, and each thread costs memory.
[[nodiscard]] unsigned useful_dedup_threads(unsigned cores, std::uint32_t partitions) noexcept;

/// The same for a filter on servers, where a thread mostly waits for one partition's answer: enough threads
/// to overlap the round trips, and one more than partitions, to have the next block ready.
[[nodiscard]] unsigned useful_remote_dedup_threads(unsigned cores, std::uint32_t partitions) noexcept;

/// Block size for deduplicate: some 100,000 short lines, so that a filter of 64 partitions, which may have
/// gigabytes, is visited in runs of 2,000 keys. Each run finds its addresses translated. A filter of two
/// gigabytes takes a quarter less time than with blocks of 512 KiB, and small ones take no more:
/// doc/measurements.md, "A billion keys".
inline constexpr std::size_t dedup_block_bytes = std::size_t{2} << 20;

}  // namespace everseen
