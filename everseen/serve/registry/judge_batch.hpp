#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/serve/base/counters.hpp"
#include "everseen/serve/base/key_batch.hpp"
#include "everseen/telemetry/event_log.hpp"

namespace everseen::serve {

/// The statistics and log of everything that a server judges. Threads: any number.
class batch_stats {
 public:
  /// @param log  null: outages are not logged
  explicit batch_stats(std::shared_ptr<telemetry::event_log> log) : log_(std::move(log)) {}

  [[nodiscard]] duration_histogram& took(question asks) noexcept {
    return asks == question::add ? add_took_ : check_took_;
  }
  /// Keys that got a verdict.
  [[nodiscard]] std::uint64_t judged_keys(question asks) const noexcept {
    return judged_.sum(place_of(asks));
  }
  void note_judged(question asks, const tally& t) noexcept {
    judged_.add(place_of(asks), t.fresh + t.seen + t.late);
  }

  [[nodiscard]] std::uint64_t outages() const noexcept { return outages_.sum(0); }

  /// From now on nothing waits for the store: work that has not begun is refused.
  void give_up() noexcept { gives_up_ = true; }
  [[nodiscard]] bool gives_up() const noexcept { return gives_up_; }

  /// Logs when an outage begins, continues, and ends.
  void note_outage(const std::string& filter, std::string_view why);
  void note_success(const std::string& filter) {
    if (failing_count_.load(std::memory_order_relaxed) > 0) note_end_of_outage(filter);
  }

 private:
  void note_end_of_outage(const std::string& filter);
  static constexpr std::size_t place_of(question asks) noexcept { return asks == question::add ? 0 : 1; }

  std::shared_ptr<telemetry::event_log> log_;
  duration_histogram add_took_{};
  duration_histogram check_took_{};
  spread_counters<2> judged_{};
  spread_counters<1> outages_{};
  std::mutex lock_{};
  std::set<std::string, std::less<>> failing_{};  // filters that failed since the outage began
  std::atomic<std::size_t> failing_count_ = 0;    // their number
  std::atomic<bool> gives_up_ = false;
};

/// A filter with its statistics.
struct counted_filter {
  everseen::filter& handle;
  batch_counters& own;
  batch_stats& of_all;
};

/// Judges keys on this thread.
/// @param times  as filter::add    @pre out.size() == keys.size()
/// @throws error  the store no longer has the filter, or is unavailable; nothing is known of any key
[[nodiscard]] batch_result judge(counted_filter asked, question q, std::span<const std::string_view> keys,
                                 std::span<verdict> out, std::span<const event_time> times);

/// The same for a batch, which records the error.
void judge(counted_filter asked, question q, key_batch& batch, std::span<const event_time> times);
/// The same with one time for all keys, or none.
void judge(counted_filter asked, question q, key_batch& batch, std::optional<event_time> when);

/// The error reply for keys whose verdict is unknown: RedisBloom's own text if it has the same meaning, else
/// OUTAGE and the reason. A retry is safe.
[[nodiscard]] std::string text_of(const batch_failure& failure, const spec& properties);

/// What a filter that does not grow answers once it is full. RedisBloom ends an array of replies with it.
inline constexpr std::string_view filter_is_full = "ERR non scaling filter is full";

/// The error reply for a key whose verdict is unknown: a key that the filter can never take gets its own
/// reply, whatever happened to the others.
[[nodiscard]] std::string text_of_unknown(const filter& judge, std::string_view key,
                                          const std::string& fault);

/// The error reply for the exception that is being handled.
/// @pre called in a catch block of something derived from std::exception, or of refusal
[[nodiscard]] std::string text_of_current_exception();

}  // namespace everseen::serve
