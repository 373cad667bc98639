#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "everseen/redis/leased_partition.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/replica_wait.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

/// Bulk loading: takes a partition for itself, judges its keys here by the kernels of the core, and writes
/// the pages that changed.
///
///     take the lease, read the segments ──> judge here ──> write pages ──> settle: counts, new segments
///                                               ^──────── next batch ─────────┘
///
/// A batch costs the server what its pages cost, however many keys set bits in them: a million keys in one
/// batch are as cheap as ten thousand. So it is for large batches; small ones are the script's. Verdicts are
/// exact, since nobody else may add while the lease lasts (lease.hpp), and acknowledged when the pages and
/// the counts are on the server. Needs scripts.
///
/// Memory: twice the segments of the partitions it holds: as they are here, and as they are on the server.
/// Threads: any number; one at a time works.
class merge_gear {
 public:
  /// @param f  must live as long as this    @param url  says how long to wait for somebody else's lease
  merge_gear(const remote_filter& f, const redis_url& url);

  batch_result add(session& with, std::span<const partition_batch> batches);

  /// Lets others add at once, instead of when the leases end.
  void release(session& with);

 private:
  bool hold(session& with, std::span<const partition_batch> batches);
  void take(session& with, std::uint32_t partition);
  [[nodiscard]] std::optional<std::chrono::milliseconds> try_to_take(session& with, std::uint32_t partition);
  void look_before_adding(session& with, std::span<const partition_batch> batches);
  void write(session& with, std::span<const partition_batch> batches);

  const remote_filter& filter_;
  std::chrono::milliseconds patience_;
  replica_wait replicas_;
  const std::string owner_;
  std::mutex lock_;
  local_segments place_;
  std::map<std::uint32_t, std::unique_ptr<leased_partition>> held_;
};

}  // namespace everseen::redis
