#pragma once

#include <atomic>
#include <chrono>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// How long an open filter may be used.
///
/// The header is read again at most once a second while the filter is in use, so a change of the expiry time
/// by another client takes effect within a second. In between, this machine's clock extrapolates the
/// server's. Threads: any number.
class filter_life {
 public:
  /// @param f  must outlive this
  explicit filter_life(const filter_identity& f) : filter_(f) {}

  /// @throws storage_error  the filter has expired, or was dropped    @throws format_error, backend_error
  void require(session& connections);

 private:
  using ours = std::chrono::steady_clock;
  void look(session& connections, bool has_expired);

  const filter_identity& filter_;
  static constexpr ours::rep never_looked = ours::duration::min().count();
  // By this machine's clock.
  std::atomic<ours::rep> look_again_at_{never_looked};
  std::atomic<ours::rep> expires_at_{ours::duration::max().count()};
};

}  // namespace everseen::redis
