#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/dedup.hpp"
#include "everseen/dedup/keyed_block.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/room.hpp"

namespace everseen {

inline bool is_outage(const batch_failure& f) noexcept {
  return f.why == batch_failure::cause::storage || f.why == batch_failure::cause::backend;
}

/// A run of deduplicate(), shared by its workers. Each worker reads a block, judges its keys and writes the
/// wanted records. Turnstiles let blocks pass in the order of the input.
struct dedup_run {
  block_reader& input;
  filter& seen;
  output& out;
  const dedup_options& options;

  std::mutex reading;  // guards the input and last_read
  event_time last_read = event_time::min();
  std::vector<turnstile> partitions;
  turnstile writing;
  std::size_t written_input = 0;       // of the last block that was written; in its turn
  std::uint64_t records_of_input = 0;  // that were written

  std::mutex end_lock;  // guards failures in the result, and what follows
  dedup_result& result;
  std::exception_ptr error;  // the first; setting it also sets `stop`
  // Read no more. Blocks that were read are still judged and written, except those from `end` on.
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> end{std::numeric_limits<std::uint64_t>::max()};
  // The store is not asked again: its outage ended the run, and each request would wait for it again.
  std::atomic<bool> given_up{false};

  using clock = std::chrono::steady_clock;
  std::atomic<clock::rep> pass_until{clock::time_point::min().time_since_epoch().count()};

  dedup_run(block_reader& in, filter& f, output& o, const dedup_options& opts, dedup_result& r)
      : input(in), seen(f), out(o), options(opts), partitions(f.stored().batch_partitions()), result(r) {}

  /// @param when  the time of the block, if the clock gives it
  bool read(block& into, event_time& when) {
    const std::scoped_lock alone(reading);
    try {
      if (stop || !input.next(into)) return false;
      if (options.clock) last_read = std::max(last_read, options.clock());
      when = last_read;
      return true;
    } catch (...) {
      stop = true;  // before another thread reads a block: it would wait indefinitely for this block's turn
      throw;
    }
  }
  /// Blocks from `number` on are neither judged nor written, unless that has already happened.
  void end_before(std::uint64_t number) noexcept {
    const std::scoped_lock alone(end_lock);
    end = std::min(end.load(), number);
    stop = true;
  }
  void fail(std::exception_ptr cause) noexcept {
    const std::scoped_lock alone(end_lock);
    if (!error) error = std::move(cause);
    stop = true;
  }
  /// Records an outage that does not end the run.
  void note_passed(batch_failure cause) {
    const std::scoped_lock alone(end_lock);
    if (!result.passed) result.passed = std::move(cause);
  }
  void fail(batch_failure cause) {
    if (is_outage(cause)) given_up = true;
    name_remedy(cause, seen);
    const std::scoped_lock alone(end_lock);
    if (!result.failure) result.failure = std::move(cause);
    stop = true;
  }
};

}  // namespace everseen
