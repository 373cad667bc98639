#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "everseen/filter/filter.hpp"
#include "everseen/server/filter_figures.hpp"
#include "everseen/server/filter_room.hpp"
#include "everseen/server/join_queue.hpp"
#include "everseen/store/time_source.hpp"

namespace everseen::server {

/// What the Redis protocol lets a filter be made with beside what everseen keeps.
struct wishes {
  /// EXPANSION as it was asked for; BF.INFO tells it. Only RedisBloom's own layout obeys it; in ours a layer
  /// holds twice the keys of the one before it: doc/operations.md, "Bloom commands".
  std::uint32_t expansion = 2;
};

/// What is known of a filter beside its bits. It outlives an outage, after which the filter is opened anew.
struct filter_record {
  explicit filter_record(const everseen::spec& s) : spec(s) {}
  const everseen::spec spec;
  batch_counters count{};
  recent_figures figures{};
};

/// An open filter, as all clients of the server use it. Threads: any number.
struct shared_filter {
  /// Waits for the store where that must be asked when the filter ends.
  shared_filter(std::string key, everseen::filter opened, wishes w, std::shared_ptr<filter_record> r,
                filter_room::share taken, worker_pool& workers, join_queue::limits joined,
                batch_notes& of_all);

  /// For judge().
  [[nodiscard]] noted_filter noted() noexcept { return {handle, record->count, of_all}; }

  [[nodiscard]] join_queue& queue(question q) noexcept { return q == question::add ? adds : checks; }
  [[nodiscard]] bool has_window() const noexcept { return handle.get_spec().window.has_value(); }

  const std::string key;  ///< as clients call it
  everseen::filter handle;
  const wishes wished;
  const std::uint64_t planned_bytes;     ///< of the first layer, which a store may make later
  std::atomic<std::uint64_t> bytes = 0;  ///< as last looked at
  std::atomic<bool> is_new = true;       ///< never looked at
  filter_room::share room;               ///< as last looked at; of one that was only opened nothing at first
  std::atomic<std::int64_t> ends_at_ms;  ///< ms since 1970; never: no_end. As it was when last asked
  std::atomic<bool> is_gone = false;     ///< dropped, or to be opened anew
  const std::shared_ptr<filter_record> record;
  batch_notes& of_all;
  join_queue adds;
  join_queue checks;

  static constexpr std::int64_t no_end = INT64_MAX;

  /// Whether its time is up. Cost: a load; of one that has an end, a look at the clock.
  [[nodiscard]] bool has_ended() const {
    const std::int64_t end = ends_at_ms.load(std::memory_order_relaxed);
    return end != no_end && wall_clock().time_since_epoch().count() >= end;
  }
  /// From now on it ends then; nothing: never. Waits for the store.    @throws error  as
  /// stored_filter::end_at
  void end_at(std::optional<event_time> when);
};

/// A filter that there is: never null. As long as it is held, the filter is open, and nobody can drop it.
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

}  // namespace everseen::server
