#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/redis/redis_url.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// `wait=N` of a URL: a batch counts as added when N replicas have it, so that the death of its server does
/// not take it back.
///
/// A WAIT follows each call that adds, in the same request: on the same connection, so that it is about this
/// call, and sent again with it. A call that is answered from its token writes, too, for that reason.
///
/// What the master has by then it keeps, so a batch that is not acknowledged leaves keys behind. Therefore a
/// WAIT goes before a batch, too, where the last one that was acknowledged is a while ago: it is about what
/// the connection wrote last, and where that has not arrived, nothing more is written.
///
/// Cost: one exchange between a server and its replicas for each partition of a batch; of a partition that
/// rested for a second or more, one more exchange with its server. Threads: any number.
class replica_wait {
 public:
  explicit replica_wait(const redis_url& url) : replicas_(url.wait_replicas), limit_(url.timeout / 2) {}

  /// Whether the URL says wait=.
  [[nodiscard]] bool is_asked_for() const noexcept { return replicas_ > 0; }

  /// Asks whether batches of these partitions can be acknowledged, as far as that is not known.
  /// @return for each, why it should not be sent
  [[nodiscard]] std::vector<std::optional<batch_failure>> look_before(session& with,
                                                                      std::span<const route> partitions);

  /// Puts the WAIT behind a call.    @param calls  of the batch, which share the time that it may take
  void follow(request& call, std::size_t calls) const;

  /// Takes the answer to the WAIT away, if it is asked for.
  /// @param partition  as look_before() is asked about it
  /// @pre    follow(call)
  /// @return why the call does not count, if fewer replicas have what it did
  [[nodiscard]] std::optional<batch_failure> take_off(const route& partition, answer& a);

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] std::string wire(std::size_t calls) const;
  [[nodiscard]] bool is_known(const route& partition);
  void note(const route& partition, bool acknowledged);

  const unsigned replicas_;
  const std::chrono::milliseconds limit_;
  std::mutex lock_;  // guards what follows
  /// By key and instance: another generation has other keys, and shards of one name have other instances.
  std::map<std::pair<std::string, std::uint32_t>, clock::time_point> acknowledged_{};
};

}  // namespace everseen::redis
