#pragma once

#include <atomic>
#include <chrono>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/transport/session.hpp"

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
  void look(session& with);

  const filter_identity& filter_;
  static constexpr ours::rep never_looked = ours::duration::min().count();
  // By our clock.
  std::atomic<ours::rep> look_again_at_{never_looked};
  std::atomic<ours::rep> expires_at_{ours::duration::max().count()};
};

}  // namespace everseen::redis
