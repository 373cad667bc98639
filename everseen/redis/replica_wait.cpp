#include "everseen/redis/replica_wait.hpp"

#include <algorithm>
#include <string>

#include "everseen/redis/command.hpp"

namespace everseen::redis {

namespace {

/// Less would fail batches for the jitter of a healthy replica.
constexpr std::chrono::milliseconds shortest{100};

}  // namespace

void replica_wait::follow(request& call, std::size_t calls) const {
  if (replicas_ == 0) return;
  // A server answers its calls one by one, so the waits add up; all together stay below the time limit of the
  // URL.
  const auto each = std::max<std::chrono::milliseconds>(shortest, limit_ / static_cast<int>(calls));
  call.wire += encode({"WAIT", std::to_string(replicas_), std::to_string(each.count())});
  ++call.commands;
}

std::optional<batch_failure> replica_wait::take_off(const request& call, answer& a) const {
  if (replicas_ == 0 || !a) return {};
  const reply waited = a->back();
  a->pop_back();
  if (a->back().is_error()) return {};  // the call did nothing that could be waited for
  if (waited.is_error())
    return batch_failure{
        batch_failure::cause::backend,
        "the Redis server refused the WAIT that wait= asks for: " + std::string(waited.text()),
        {}};
  if (waited.integer() >= static_cast<std::int64_t>(replicas_)) return {};
  return batch_failure{
      batch_failure::cause::backend,
      "only " + std::to_string(waited.integer()) + " of the " + std::to_string(replicas_) +
          " replicas that wait= asks for had the batch in time (at " + call.to.key +
          "); the master has it, so its keys may be seen when they are asked about again. Look after "
          "the replicas, or ask for fewer",
      {}};
}

}  // namespace everseen::redis
