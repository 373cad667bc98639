#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

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
/// Cost: one exchange between a server and its replicas for each partition of a batch.
class replica_wait {
 public:
  explicit replica_wait(const redis_url& url) : replicas_(url.wait_replicas), limit_(url.timeout / 2) {}

  /// Puts the WAIT behind a call.    @param calls  of the batch, which share the time that it may take
  void follow(request& call, std::size_t calls) const;

  /// Takes the answer to the WAIT away, if there is one.
  /// @return why the call does not count, if fewer replicas have it
  [[nodiscard]] std::optional<batch_failure> take_off(const request& call, answer& a) const;

 private:
  unsigned replicas_;
  std::chrono::milliseconds limit_;
};

}  // namespace everseen::redis
