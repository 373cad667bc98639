#include "everseen/server/service/bounded_retry_policy.hpp"

namespace everseen::server {

namespace {

/// The object that counts this thread as waiting.
thread_local const bounded_retry_policy* waits_in = nullptr;

}  // namespace

bool bounded_retry_policy::tries_again(const outage& now) {
  const bool waits = !ends_() && now.lasted < now.limit && enter();
  if (!waits) leave();
  return waits;
}

bool bounded_retry_policy::enter() noexcept {
  if (waits_in == this) return true;
  unsigned waiting = waiting_;
  do
    if (waiting >= most_) return false;
  while (!waiting_.compare_exchange_weak(waiting, waiting + 1));
  waits_in = this;
  return true;
}

void bounded_retry_policy::leave() noexcept {
  if (waits_in != this) return;
  waits_in = nullptr;
  --waiting_;
}

}  // namespace everseen::server
