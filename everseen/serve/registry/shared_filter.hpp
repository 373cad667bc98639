#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/serve/base/key_batch.hpp"
#include "everseen/serve/base/worker_pool.hpp"
#include "everseen/serve/registry/filter_budget.hpp"
#include "everseen/serve/registry/judge_batch.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen::serve {

/// A summary of how full a filter is.
struct filter_figures {
  /// The part on one server.
  struct instance {
    std::string place{};  ///< empty: this process
    std::uint32_t partitions = 0;
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
  };
  std::uint64_t keys = 0;
  double error_rate_now = 0;
  double fill = 0;  ///< keys divided by the capacity of all layers
  std::uint32_t layers = 0;
  std::uint32_t slices = 0;
  std::uint64_t bytes = 0;
  std::vector<instance> instances{};
};

[[nodiscard]] filter_figures figures_of(const filter_info& info);

/// A filter's figures, at most a second old: for a filter on servers they cost round trips.
/// Threads: any number; one refreshes.
class recent_figures {
 public:
  using clock = std::chrono::steady_clock;
  /// Refreshes the figures unless they are still valid. Never fails: during an outage the old ones stay.
  void look_at(const filter& f, clock::time_point current_time);
  /// The last known figures; nothing: none yet.
  [[nodiscard]] std::optional<filter_figures> last() const;

 private:
  mutable std::mutex lock_{};
  std::optional<filter_figures> last_{};
  clock::time_point good_until_{};
};

/// Joins the requests of many clients about one filter into few batches.
///
/// For a store that answers after a round trip or a sync: while batches are in flight, new ones wait here
/// and are then sent together. So batches grow with the load, and no request waits for others on an idle
/// server. Several batches may be in flight, to keep the store busy while answers are read. Batches of
/// different clients are unordered, here as elsewhere.
/// Threads: any number.
class join_queue {
 public:
  struct limits {
    std::size_t keys = 16'384;  ///< in one joined batch, unless a single client's has more
    unsigned at_once = 2;       ///< batches in flight
  };

  /// @param filter  outlives the queue, which `owner` of submit() ensures
  join_queue(counted_filter filter, question q, worker_pool& workers, limits l)
      : filter_(filter), question_(q), workers_(workers), limits_(l) {}

  /// Judges a batch and calls `done`, on another thread. If memory runs out, the process ends.
  /// @param when  for a filter with a window: the time of all its keys
  /// @param owner  keeps this queue alive until the batch is done
  void submit(key_batch& batch, std::optional<event_time> when, std::function<void()> done,
              std::shared_ptr<void> owner) noexcept;

 private:
  struct waiting {
    key_batch* batch;
    std::optional<event_time> when;
    std::function<void()> done;
  };
  void run();
  [[nodiscard]] bool fits(const waiting& next, std::size_t keys) const;
  [[nodiscard]] std::vector<waiting> take();
  void judge(std::vector<waiting>& together);

  const counted_filter filter_;
  const question question_;
  worker_pool& workers_;
  const limits limits_;
  std::mutex lock_{};
  std::vector<waiting> waiting_{};
  unsigned in_flight_ = 0;
};

/// Options of the Redis protocol for a new filter that are not part of its spec.
struct requested_options {
  /// The requested EXPANSION, for BF.INFO. Only RedisBloom's own layout obeys it; in ours a layer holds
  /// twice the keys of the one before it: doc/operations.md, "Bloom commands".
  std::uint32_t expansion = 2;
};

/// What is known of a filter beside its bits. It survives an outage, after which the filter is reopened.
struct filter_record {
  explicit filter_record(const everseen::spec& s) : spec(s) {}
  const everseen::spec spec;
  batch_counters count{};
  recent_figures figures{};
};

/// An open filter, shared by all clients of the server. Threads: any number.
struct shared_filter {
  /// @param known  of the store, from before it was opened
  shared_filter(std::string key, everseen::filter opened, const filter_facts& known, requested_options w,
                std::shared_ptr<filter_record> r, filter_budget::share taken, worker_pool& workers,
                join_queue::limits joined, batch_stats& of_all);

  /// For judge().
  [[nodiscard]] counted_filter counted() noexcept { return {handle, record->count, of_all}; }

  [[nodiscard]] join_queue& queue(question q) noexcept { return q == question::add ? adds : checks; }
  [[nodiscard]] bool has_window() const noexcept { return handle.get_spec().window.has_value(); }

  static constexpr std::int64_t no_expiry = INT64_MAX;

  const std::string key;  ///< its name for clients
  const std::string fingerprint;
  everseen::filter handle;
  const std::string identity;  ///< filter_facts::identity
  const requested_options requested;
  const std::uint64_t planned_bytes;     ///< of the first layer, which a store may create later
  std::atomic<std::uint64_t> bytes = 0;  ///< as last measured
  std::atomic<bool> is_new = true;       ///< to be measured even if no keys were added
  filter_budget::share room;  ///< as last measured, or more; at first 0 for a filter that was only opened
  std::atomic<std::int64_t> expires_at_ms = no_expiry;  ///< ms since 1970, as last asked; never: no_expiry
  std::atomic<bool> is_gone = false;                    ///< dropped, or to be reopened
  const std::shared_ptr<filter_record> record;
  batch_stats& of_all;
  join_queue adds;
  join_queue checks;

  /// Whether it has expired. Cost: a load; if it has an expiry, also a clock read.
  [[nodiscard]] bool has_expired() const {
    const std::int64_t end = expires_at_ms.load(std::memory_order_relaxed);
    return end != no_expiry && wall_clock().time_since_epoch().count() >= end;
  }
  void set_expiry(std::optional<event_time> when) noexcept {
    expires_at_ms = when ? when->time_since_epoch().count() : no_expiry;
  }
};

/// A filter that exists: never null. While it is held, the filter is open and cannot be dropped.
class open_filter {
 public:
  /// @throws no_filter  null: there is none
  explicit open_filter(std::shared_ptr<shared_filter> found) : filter_(std::move(found)) {
    if (!filter_) throw no_filter("there is no such filter");
  }
  [[nodiscard]] shared_filter& operator*() const noexcept { return *filter_; }
  [[nodiscard]] shared_filter* operator->() const noexcept { return filter_.get(); }
  [[nodiscard]] const std::shared_ptr<shared_filter>& shared() const noexcept { return filter_; }

 private:
  std::shared_ptr<shared_filter> filter_;
};

}  // namespace everseen::serve
