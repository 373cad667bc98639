#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// `wait=N` of a URL: a batch counts as added when N replicas have it, so that the death of its server does
/// not take it back. The connection sees to that, for each request that says `on_replicas`; too few replicas
/// are an outage to it.
///
/// What the master has by then it keeps, so a batch that is not acknowledged leaves keys behind. Therefore it
/// is asked before a batch, too, where the last one that was acknowledged is a while ago, and nothing more is
/// written while replicas are missing.
///
/// Cost: of a partition that rested for a second or more, one more exchange with its server. Threads: any
/// number.
class replica_wait {
 public:
  explicit replica_wait(const redis_url& url) : is_asked_for_(url.wait_replicas > 0) {}

  /// Whether the URL says wait=.
  [[nodiscard]] bool is_asked_for() const noexcept { return is_asked_for_; }

  /// Asks whether batches of these partitions can be acknowledged, as far as that is not known.
  /// @return for each, why it should not be sent
  [[nodiscard]] std::vector<std::optional<batch_failure>> look_before(session& with,
                                                                      std::span<const route> partitions);

  /// What a request that says `on_replicas` was answered.
  void note(const route& partition, const answer& a);

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_known(const route& partition);

  const bool is_asked_for_;
  std::mutex lock_;  // guards what follows
  /// By key and instance: another generation has other keys, and shards of one name have other instances.
  std::map<std::pair<std::string, std::uint32_t>, clock::time_point> acknowledged_{};
};

}  // namespace everseen::redis
