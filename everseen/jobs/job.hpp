// clang-format off

/// A job: events from a source, each counted and put out once, even across crashes.
///
///     reader thread                       │ settling thread, the caller's
///     source ──> records ──> event_reader ├──> queue ──> claim ──> put ──> ... commit ──> settle ──> account
///                            parse, hash, │              ledger    sink       sink        ledger     source
///                            name         │              └── each batch ──┘   └── ten times a second ──────┘
///                            counters     │
///
/// Each step begins after all steps to its left are complete. After a crash before `settle`, the source
/// resumes at or before the first unsettled event, the ledger returns the verdicts of the first attempt, and
/// the sink has taken back, or recognizes, the records that it already has. doc/streams.md, "Steps of a batch",
/// explains the steps one by one.

// clang-format on

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "everseen/core/base/verdict.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/scatter.hpp"
#include "everseen/jobs/event_batch.hpp"
#include "everseen/jobs/port/sink.hpp"
#include "everseen/jobs/port/source.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen {

/// A queue between two threads with a limited length. Threads: one pushes, one pops; close() and open(): any.
template <typename T>
class bounded_queue {
 public:
  explicit bounded_queue(std::size_t most) : most_(most) {}

  /// @return false  it was still full after `wait`, or it is closed
  bool wait_for_room(std::chrono::milliseconds wait) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, wait, [&] { return closed_ || things_.size() < most_; });
    return !closed_ && things_.size() < most_;
  }

  /// @pre wait_for_room() has returned true since the last push; a closed queue drops it
  void push(T thing) {
    const std::scoped_lock alone(lock_);
    if (!closed_) things_.push_back(std::move(thing));
    changed_.notify_all();
  }

  /// The next thing; nothing if none arrived within `wait`, or the queue is closed and empty (has_ended()).
  std::optional<T> pop(std::chrono::milliseconds wait) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, wait, [&] { return closed_ || !things_.empty(); });
    if (things_.empty()) return {};
    T thing = std::move(things_.front());
    things_.pop_front();
    changed_.notify_all();
    return thing;
  }

  /// Accepts things again after close().
  void open() {
    const std::scoped_lock alone(lock_);
    closed_ = false;
  }

  /// Accepts nothing more. What it holds can still be popped.
  void close() {
    const std::scoped_lock alone(lock_);
    closed_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] bool has_ended() const {
    const std::scoped_lock alone(lock_);
    return closed_ && things_.empty();
  }

 private:
  const std::size_t most_;
  mutable std::mutex lock_;  // guards the members below
  std::condition_variable changed_;
  std::deque<T> things_;
  bool closed_ = false;
};

/// Results of a job so far.
struct job_result {
  tally verdicts;              ///< `unknown` ones were passed by in an outage
  std::uint64_t events = 0;    ///< judged
  std::uint64_t bad = 0;       ///< records that are not events
  std::string first_bad{};     ///< what is wrong with the first
  std::uint64_t replayed = 0;  ///< events that an earlier attempt had claimed
  std::uint64_t bytes = 0;
  std::optional<event_time> newest;     ///< the watermark: latest time of an event
  std::optional<std::uint64_t> lag;     ///< records that wait to be read, if the source knows
  std::optional<batch_failure> passed;  ///< why the first event passed by has no verdict
  std::vector<std::string> absent;      ///< fields to count by that none of the first events had
};

struct job_options {
  event_shape events;
  event_reader::options reading;
  /// The name of the sink's checkpoint, and its order (job_marks::sink()). It is unique for each output of a
  /// worker. Empty: none is kept.
  std::string sink_name;
  std::uint64_t sink_order = 0;

  enum class outage : std::uint8_t {
    fail,
    pass  ///< put out events without a verdict if the store stays unavailable: an event may then be repeated
  };
  outage on_outage = outage::fail;

  output* seen_to = nullptr;  ///< repeats are also written there, at least once
  output* late_to = nullptr;
  output* bad_to = nullptr;
  char separator = '\n';  ///< behind each record there

  std::chrono::milliseconds settle_every{100};
  /// Settle earlier once this many events are unsettled: their positions are kept, and written with each
  /// claim.
  std::uint64_t most_unsettled = 250'000;
  std::size_t batches_ahead = 4;  ///< that the reader may be ahead of the settling thread

  /// Called once, before anything is claimed, by the caller's thread: another worker may have begun the job
  /// since its ledger was opened. Throws if this run does not match the job, which ends the run in order.
  std::function<void()> examine{};
  /// Called after each batch, and several times a second while there is none, by the caller's thread. May
  /// throw, which ends the job in order.
  std::function<void(const job_result&)> progress{};
  /// Called at most once, by the caller's thread, with a warning for the user.
  std::function<void(const std::string&)> warn{};
  /// Called for each settled batch, with the time since it was read.
  std::function<void(std::chrono::duration<double>)> settled{};
};

/// The parts of a job. All must outlive it.
struct job_parts {
  filter& known_keys;
  everseen::ledger& ledger;
  source& from;
  sink* target = nullptr;  ///< null: only counters are wanted
};

/// Runs once.    Threads: one; stop() any, also a signal handler.
class job {
 public:
  /// @throws parameter_error  as event_reader
  job(job_parts parts, job_options options);
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  /// Runs until the source ends, stop() is called, or something fails. In each case, everything that was put
  /// out is settled if the store is available and the sink did not fail halfway.
  /// @throws format_error  a record is not an event, and on_bad is fail; everything before it is settled
  /// @throws full_error, storage_error, backend_error  the next run judges unsettled events as before
  /// @throws parameter_error  as source::begin
  void run();

  /// Ends the job as if the source had ended.
  void stop() noexcept { stopping_ = true; }

  [[nodiscard]] const job_result& result() const noexcept { return result_; }

 private:
  void begin();
  void begin_sink(const std::string& note);
  void register_with_job();
  void read(const std::stop_token& ended);
  void read_all();
  void keep_alive(const std::stop_token& ended);
  void begin_reading();
  void end_reading();
  void stop_reading();
  [[nodiscard]] bool is_to_read_again();
  void settle_all();
  [[nodiscard]] bool settle_next();
  void leave();
  [[nodiscard]] bool process_batch(event_batch& batch);
  void begin_generation(const source_batch& batch);
  void pass_over_settled(event_batch& batch);
  [[nodiscard]] std::optional<batch_failure> claim(const event_batch& batch);
  [[nodiscard]] bool may_claim(const std::string& name);
  [[nodiscard]] bool look_up(const std::string& name);
  void doubt(const std::string& name);
  void put(const event_batch& batch);
  void write_aside(const event_batch& batch);
  void remember(const event_batch& batch);
  enum class if_unavailable : std::uint8_t { fail, later };
  bool settle(if_unavailable then);
  void end_after_failure(if_unavailable then);
  void commit();
  [[nodiscard]] bool settle_in_ledger(std::vector<checkpoint> reached) const;
  void leave_settled();
  void must_have_kept(const std::map<std::string, checkpoint, std::less<>>& known) const;
  void account();
  [[nodiscard]] std::vector<checkpoint> all_reached() const;
  void report();

  [[nodiscard]] bool is_waited_for() const;

  struct lane {
    std::uint64_t generation = 0;
    std::uint64_t settled = 0;
    std::uint64_t put = 0;   // end of what this process has put out: it puts a record once
    bool looked_up = false;  // in this generation: another worker may have settled more before
    bool passed = false;     // settle before the next claim: see may_claim()
  };

  job_parts parts_;
  job_options options_;
  event_reader reader_;
  bounded_queue<event_batch> queue_;
  std::exception_ptr read_failure_;     // written before the thread ends
  std::atomic<bool> stopping_ = false;  // no more is read
  std::jthread reading_{};              // asked to stop when all is settled

  // for the settling thread
  claim_scatter sorted_;
  std::vector<verdict> verdicts_;
  std::vector<std::uint8_t> claimed_before_;
  // By lane. `lane::settled` is what the ledger had when this job last looked: at the beginning of a
  // generation (look_up()), after a settlement (account()), and after a refused one (leave_settled()).
  // Between these the ledger may have more, by another worker. `reached_` is what this worker has put out
  // beyond that: it is right about the sink from remember() on, and about the ledger once account() moves it
  // into `lanes_`.
  std::map<std::string, lane, std::less<>> lanes_;
  std::map<std::string, checkpoint, std::less<>> reached_;
  bool warned_ = false;
  std::string sink_note_;       // as of its last commit
  bool sink_is_new_ = false;    // the ledger does not have it, or the place where it began
  bool is_registered_ = false;  // the run matches the job, and the ledger has the place where its sink began
  bool sink_is_whole_ = true;   // it has exactly what reached_ says: it did not fail halfway
  std::vector<std::chrono::steady_clock::time_point> unsettled_since_;
  bool has_lost_events_ = false;        // since reading began: read, and not settled by this worker
  std::uint64_t unsettled_events_ = 0;  // since the last attempt to settle
  bool has_ended_lane_ = false;         // since then, too: settle it when nothing else arrives
  std::chrono::steady_clock::time_point settled_at_{};
  job_result result_;
};

}  // namespace everseen
