#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// Until when somebody who has a filter open may use it.
///
/// The header is read again at most once a second while the filter is used, so an end that another client has
/// changed is known within a second. In between our own clock counts on from the server's. Threads: any
/// number.
class filter_life {
 public:
  /// @param f  must outlive this
  explicit filter_life(const filter_identity& f) : filter_(f) {}

  /// @throws storage_error  the filter has ended, or was dropped    @throws format_error, backend_error
  void require(session& with);

 private:
  using ours = std::chrono::steady_clock;
  [[nodiscard]] bool is_known() const noexcept {
    const auto now = ours::now().time_since_epoch().count();
    return now < look_again_at_ && now < ends_at_;
  }
  void look(session& with);

  const filter_identity& filter_;
  std::mutex looking_;
  // By our clock; a filter that was never asked about has to be.
  std::atomic<ours::rep> look_again_at_{ours::duration::min().count()};
  std::atomic<ours::rep> ends_at_{ours::duration::max().count()};
};

}  // namespace everseen::redis
