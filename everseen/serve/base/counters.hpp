#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/key_batch.hpp"

namespace everseen::serve {

/// Numbers that many threads add to and that are rarely read.
///
/// Each thread has its own cache lines, so that adding costs the same for one thread and for many; threads
/// after the sixteenth share. Reading sums up. Threads: any number.
template <std::size_t Count>
class spread_counters {
 public:
  void add(std::size_t which, std::uint64_t more) noexcept {
    lines_[line_of_this_thread()].counts[which].fetch_add(more, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept {
    std::uint64_t all = 0;
    for (const line& each : lines_) all += each.counts[which].load(std::memory_order_relaxed);
    return all;
  }

 private:
  static constexpr std::size_t lines = 16;
  struct alignas(64) line {
    std::array<std::atomic<std::uint64_t>, Count> counts{};
  };
  static std::size_t line_of_this_thread() noexcept {
    static std::atomic<std::size_t> next = 0;
    thread_local const std::size_t mine = next++ % lines;
    return mine;
  }
  std::array<line, lines> lines_{};
};

/// A histogram of durations, as in Prometheus.
class duration_histogram {
 public:
  using clock = std::chrono::steady_clock;
  /// Upper bounds of the buckets, in ns; one more bucket is for longer durations.
  static constexpr std::array<std::uint64_t, 18> ends_ns = {
      1'000,      2'500,       5'000,       10'000,        25'000,        50'000,
      100'000,    250'000,     500'000,     1'000'000,     2'500'000,     5'000'000,
      10'000'000, 100'000'000, 500'000'000, 1'000'000'000, 5'000'000'000, 10'000'000'000};

  void note(clock::duration took) noexcept;
  /// The count of each bucket, not cumulative; the last: those above all bounds.
  [[nodiscard]] std::vector<std::uint64_t> classes() const;
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(counts_.sum(sum_)) * 1e-9; }

 private:
  static constexpr std::size_t sum_ = ends_ns.size() + 1;
  spread_counters<ends_ns.size() + 2> counts_{};
};

/// Results of batches of keys.
class batch_counters {
 public:
  /// @param outcome  of one batch
  void note(question asks, const batch_result& outcome) noexcept;
  /// A batch that ended with an exception.
  void note_unanswered(question asks, std::uint64_t keys, bool by_outage) noexcept;

  [[nodiscard]] tally verdicts(question asks) const noexcept;
  [[nodiscard]] std::uint64_t batches(question asks) const noexcept { return counts_.sum(first(asks) + 4); }
  [[nodiscard]] std::uint64_t outages() const noexcept { return counts_.sum(outages_); }
  /// Whether keys were added since the last call.
  [[nodiscard]] bool take_added() noexcept { return was_added_to_ && was_added_to_.exchange(false); }

 private:
  static constexpr std::size_t first(question asks) noexcept { return asks == question::add ? 0 : 5; }
  static constexpr std::size_t outages_ = 10;
  void note(question asks, const tally& t, bool outage) noexcept;
  spread_counters<11> counts_{};
  std::atomic<bool> was_added_to_ = false;
};

/// Answered requests over HTTP, by what was asked and how it ended. Threads: any number.
///
/// Bounded by the number of routes: what fits none of them counts as one.
class request_counts {
 public:
  struct kind {
    std::string_view route;   ///< its pattern, with {name} for any name; empty: there is no such route
    std::string_view method;  ///< both must outlive the counts
    unsigned status = 0;
    friend auto operator<=>(const kind&, const kind&) = default;
  };

  void note(const kind& counted) {
    const std::scoped_lock alone(lock_);
    ++counts_[counted];
  }

  [[nodiscard]] std::map<kind, std::uint64_t> all() const {
    const std::scoped_lock alone(lock_);
    return counts_;
  }

  [[nodiscard]] std::uint64_t sum() const {
    const std::scoped_lock alone(lock_);
    std::uint64_t requests = 0;
    for (const auto& [labels, count] : counts_) requests += count;
    return requests;
  }

 private:
  mutable std::mutex lock_{};
  std::map<kind, std::uint64_t> counts_{};
};

}  // namespace everseen::serve
