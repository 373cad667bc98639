#include "everseen/dedup/dedup.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/dedup/keyed_block.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/room.hpp"

namespace everseen {

/// Whether a further request would fail, too, and keys of this one may be missing.
inline bool ends_requests(const batch_failure& f) noexcept {
  return f.why == batch_failure::cause::backend || f.why == batch_failure::cause::storage;
}

/// A run of deduplicate(), shared by its workers. Each worker reads a block, judges its keys and writes the
/// wanted records. Turnstiles let blocks pass in the order of the input. A member without a note is for any
/// thread.
struct dedup_run {
  block_reader& input;  // reading of blocks: `reading`; names of inputs: any thread
  filter& known_keys;
  output& out;  // the block's turn in `writing`
  const dedup_options& options;

  std::mutex reading;
  event_time last_read = event_time::min();  // `reading`
  std::vector<turnstile> partitions;         // a turn in each: the filter's partition is asked in this order
  turnstile writing;
  std::size_t written_input = 0;       // of the last block that was written; the turn in `writing`
  std::uint64_t records_of_input = 0;  // that were written; the turn in `writing`

  std::mutex end_lock;
  // Failures and verdicts: `end_lock`. All other counts: the turn in `writing`.
  dedup_result& result;
  std::exception_ptr error;  // the first; setting it also sets `stop`; `end_lock`
  // Read no more. Blocks that were read are still judged and written, except those from `end` on.
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> end{std::numeric_limits<std::uint64_t>::max()};
  // The store is not asked again: its outage ended the run, and each request would wait for it again.
  std::atomic<bool> given_up{false};

  using clock = std::chrono::steady_clock;
  std::atomic<clock::rep> pass_until{clock::time_point::min().time_since_epoch().count()};

  dedup_run(block_reader& in, filter& f, output& o, const dedup_options& opts, dedup_result& r)
      : input(in),
        known_keys(f),
        out(o),
        options(opts),
        partitions(f.stored().batch_partitions()),
        result(r) {
    // Or all lines would be late if the clock was ahead in an earlier run.
    if (!options.time) last_read = f.newest_slice().value_or(last_read);
  }

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
    if (ends_requests(cause)) given_up = true;
    name_remedy(cause, known_keys);
    const std::scoped_lock alone(end_lock);
    if (!result.failure) result.failure = std::move(cause);
    stop = true;
  }
};

namespace {

/// Takes blocks through the whole pipeline, one after the other.
class worker {
 public:
  explicit worker(dedup_run& shared) : shared_(shared), block_(shared.known_keys, shared.options) {}

  void run() {
    try {
      event_time read_at{};
      while (shared_.read(block_.bytes(), read_at)) process(block_.bytes().number(), read_at);
    } catch (...) {  // only reading can throw here: process() takes its turns whatever fails
      shared_.fail(std::current_exception());
    }
    const std::scoped_lock alone(shared_.end_lock);
    shared_.result.verdicts += verdicts_total_;
  }

 private:
  using clock = dedup_run::clock;
  using order = dedup_options::adding_order;

  void process(std::uint64_t number, event_time read_at) noexcept {
    std::span<const partition_batch> batches;
    judged_ = {};
    try {
      batches = block_.sort(read_at);
      if (block_.unreadable()) shared_.end_before(number + 1);
    } catch (...) {  // out of memory
      shared_.fail(std::current_exception());
      shared_.end_before(number);
    }
    // Once it is this block's turn, everything that ends the run before it is known.
    switch (shared_.options.adding_keys) {
      case order::ahead:
        if (shared_.options.threads > 1) shared_.partitions.front().wait(number);
        break;
      case order::before_block:
        shared_.writing.wait(number);
        if (number < shared_.end && !settle_output()) shared_.end_before(number);
        break;
      case order::after_block:
        shared_.writing.wait(number);
        if (number < shared_.end) write_and_add(number, batches);
        shared_.writing.leave(number);
        return;
    }
    const bool wanted = number < shared_.end;
    judge(number, wanted ? batches : std::span<const partition_batch>{});
    shared_.writing.wait(number);
    if (wanted && number < shared_.end) (void)write(number);
    shared_.writing.leave(number);
  }

  /// @return false  the run has failed
  bool settle_output() noexcept {
    try {
      if (shared_.options.settle_output) shared_.options.settle_output(block_.records());
      return true;
    } catch (...) {
      shared_.fail(std::current_exception());
      return false;
    }
  }

  void write_and_add(std::uint64_t number, std::span<const partition_batch> batches) noexcept {
    bool is_judged = false;
    const auto write_judged = [&] {
      is_judged = true;
      for (const partition_batch& batch : batches) judged_ += tally_of(batch.out);
      block_.gather();
      count_judged();
      if (!write(number) || !settle_output()) {
        shared_.end_before(number + 1);
        return false;
      }
      fault_point("put");
      return true;
    };
    // Where keys of written lines may be missing, a later block would be given their repeats as fresh.
    try {
      if (batches.empty()) {
        write_judged();
        return;
      }
      batch_result added = shared_.known_keys.stored().add_after(batches, write_judged);
      if (!added && ends_requests(added.error())) shared_.end_before(number + 1);
      if (!added) shared_.fail(std::move(added.error()));
      fault_point("settled");
    } catch (...) {
      shared_.end_before(number + 1);
      shared_.fail(std::current_exception());
    }
    if (!is_judged) write_judged();  // the counts of what has no answer
  }

  void judge(std::uint64_t number, std::span<const partition_batch> batches) noexcept {
    if (shared_.options.adding_keys == order::before_block) {
      if (!batches.empty()) add(batches);
    } else if (shared_.options.threads <= 1) {
      for (const partition_batch& batch : batches) add({&batch, 1});
    } else {
      judge_in_order(number, batches);
    }
    if (!batches.empty()) block_.gather();
    count_judged();
  }

  void count_judged() noexcept {
    verdicts_total_ += judged_;
    if (judged_.late > 0 && shared_.options.late == dedup_options::fate::fail) shared_.stop = true;
  }

  void judge_in_order(std::uint64_t number, std::span<const partition_batch> batches) noexcept {
    auto next = batches.begin();
    for (std::uint32_t p = 0; p < shared_.partitions.size(); ++p) {
      turnstile& gate = shared_.partitions[p];
      gate.wait(number);
      if (next != batches.end() && next->partition == p) add({&*next++, 1});
      gate.leave(number);
    }
  }

  void add(std::span<const partition_batch> batches) noexcept {
    try {
      if (is_not_asked()) return leave_unknown(batches);
      const auto asked_at = clock::now();
      batch_result result = shared_.known_keys.stored().add(batches);
      judged_ += result ? *result : result.error().done;
      if (result) return;
      if (passes() && is_outage(result.error()))
        pass(batches, clock::now() - asked_at, std::move(result.error()));
      else
        shared_.fail(std::move(result.error()));
    } catch (...) {
      shared_.fail(std::current_exception());
    }
  }

  [[nodiscard]] bool passes() const noexcept {
    return shared_.options.on_outage == dedup_options::outage::pass;
  }

  [[nodiscard]] bool is_not_asked() const noexcept {
    if (shared_.given_up) return true;
    return passes() && clock::now().time_since_epoch().count() < shared_.pass_until;
  }

  void leave_unknown(std::span<const partition_batch> batches) noexcept {
    for (const partition_batch& batch : batches) {
      std::ranges::fill(batch.out, verdict::unknown);
      judged_.unknown += batch.out.size();
    }
    if (!shared_.given_up) write_as_fresh(batches);
  }

  /// The next request follows after a pause as long as this one took, so the stream flows at least half of
  /// the time.
  void pass(std::span<const partition_batch> batches, clock::duration took, batch_failure why) {
    shared_.note_passed(std::move(why));
    constexpr clock::duration least = std::chrono::milliseconds(100);
    shared_.pass_until = (clock::now() + std::max(took, least)).time_since_epoch().count();
    write_as_fresh(batches);
  }

  /// The counts still say `unknown`.
  static void write_as_fresh(std::span<const partition_batch> batches) noexcept {
    for (const partition_batch& batch : batches)
      std::ranges::replace(batch.out, verdict::unknown, verdict::fresh);
  }

  /// @return false  the output failed
  bool write(std::uint64_t number) noexcept {
    dedup_result& result = shared_.result;  // during this block's turn no other thread uses these members
    const block& bytes = block_.bytes();
    if (std::exchange(shared_.written_input, bytes.input()) != bytes.input()) shared_.records_of_input = 0;
    if (judged_.unknown > 0) note_first(verdict::unknown, result.first_unknown, result.first_unknown_place);
    if (judged_.late > 0) note_first(verdict::late, result.first_late, result.first_late_place);
    note_keyless(block_.without_key(), result);
    const std::string_view wanted = block_.keep_wanted();
    result.records += block_.records();
    result.bytes += bytes.text().size();
    try {
      write_past_fault_point(wanted, "half_put", [&](std::string_view part) { shared_.out.write(part); });
    } catch (...) {  // output after a gap would look complete
      shared_.fail(std::current_exception());
      shared_.end_before(number + 1);
      return false;
    }
    result.written += block_.kept();
    try {
      if (block_.unreadable()) report(*block_.unreadable());
      if (shared_.options.progress) shared_.options.progress(result);
    } catch (...) {
      shared_.fail(std::current_exception());
    }
    shared_.records_of_input += block_.records();
    return true;
  }

  /// @param number  set once, to the number of the first such record, from 1    @param place  where it is
  void note_first(verdict v, std::uint64_t& number, std::string& place) const {
    const auto found = number == 0 ? block_.first(v) : std::nullopt;
    if (!found) return;
    number = shared_.result.records + *found + 1;
    place = place_of(*found);
  }

  void note_keyless(const keyed_block::keyless& of_block, dedup_result& result) const {
    result.without_key += of_block.without_key;
    result.malformed += of_block.malformed;
    if (of_block.first && result.first_without_key.empty())
      result.first_without_key = place_of(of_block.first->position) + ' ' + to_string(*of_block.first);
  }

  [[nodiscard]] std::string place_of(std::size_t record) const {
    return record_place(shared_.options.format, shared_.input.name_of(block_.bytes().input()),
                        shared_.records_of_input + record);
  }

  [[noreturn]] void report(const bad_record& unreadable) const {
    throw format_error(place_of(unreadable.position) + ' ' + to_string(unreadable) +
                       "; --missing-key drop skips such lines" +
                       (shared_.options.may_pass_keyless ? ", --missing-key pass prints them" : ""));
  }

  dedup_run& shared_;
  keyed_block block_;
  tally judged_;  // of this block
  tally verdicts_total_;
};

}  // namespace

dedup_result deduplicate(block_reader& input, filter& known_keys, output& out, const dedup_options& options) {
  dedup_result result;
  deduplicate(input, known_keys, out, options, result);
  return result;
}

void deduplicate(block_reader& input, filter& known_keys, output& out, const dedup_options& options,
                 dedup_result& result) {
  if (known_keys.get_spec().window && !options.time && !options.clock)
    throw parameter_error("the filter has a window; say where a record has its time, or pass a clock");
  dedup_run shared(input, known_keys, out, options, result);
  const auto work = [&]() noexcept {
    try {
      worker(shared).run();
    } catch (...) {
      shared.fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned i = 1; i < options.threads; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads available; the existing ones suffice
    }
    work();
  }
  if (shared.error) std::rethrow_exception(shared.error);
  if (result.first_late > 0 && options.late == dedup_options::fate::fail)
    throw format_error(result.first_late_place +
                       " is older than the window; --late drop skips such lines, --late "
                       "pass prints them");
}

unsigned useful_dedup_threads(unsigned cores, std::uint32_t partitions) noexcept {
  return std::max(1U, std::min({cores, 8U, partitions}));
}

unsigned useful_remote_dedup_threads(unsigned cores, std::uint32_t partitions) noexcept {
  return std::min(std::max(8U, 2 * cores), partitions + 1);
}

}  // namespace everseen
