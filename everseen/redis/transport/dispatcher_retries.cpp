// What a dispatcher does with jobs that got no answer: it sends them again, after a pause, until the outage
// has lasted for too long.

#include <algorithm>
#include <chrono>
#include <vector>

#include "everseen/redis/transport/dispatcher.hpp"

namespace everseen::redis {

void dispatcher::trouble(job& j, const failure& why, pause p) {
  if (map_job_ && &j == &*map_job_) {
    map_failure_ = why;
    return ask_next_candidate();
  }
  if (!j.trouble_since) j.trouble_since = std::max(j.begun, clock::now() - why.silent_for);
  if (may_be_forgotten(j)) {
    const failure too_old = {why.message + "; the server may have forgotten its first answer", why.permanent};
    return complete(j, tl::unexpected(j.ended_by(too_old)));
  }
  if (why.permanent || !tries_again(j, why)) return complete(j, tl::unexpected(j.ended_by(why)));
  park(j, p);
}

/// Whether the server may have forgotten its answer to the first attempt when the next one arrives. Then the
/// next one would be a new batch, and keys that the first one added would be `seen`. A request that is not
/// repeatable is not sent again after it ran, so nothing of it can be forgotten.
bool dispatcher::may_be_forgotten(const job& j) const {
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - j.begun);
  constexpr std::chrono::seconds longest_pause{1};
  return j.asked().repeatable && j.may_have_run &&
         age > j.asked().repeatable.time() - url_.timeout - url_.connect_timeout - longest_pause;
}

bool dispatcher::tries_again(const job& j, const failure& why) {
  if (!retry_policy_) return j.in_trouble_for() < url_.retry_for;
  in_trouble_ = true;
  return retry_policy_->tries_again({why.message, j.in_trouble_for(), url_.retry_for});
}

void dispatcher::park(job& j, pause p) {
  // The last attempt is made at the end of the time, not before.
  const auto next = clock::now() + p;
  const auto due = retry_policy_ ? next : std::min(next, *j.trouble_since + url_.retry_for);
  parked_.emplace_back(due, &j);
  if (parked_.size() == 1 || due < alarm_at_) set_alarm(due);
}

void dispatcher::set_alarm(clock::time_point at) {
  alarm_at_ = at;
  alarm_.start(at - clock::now(), [this] { wake(); });
}

void dispatcher::wake() {
  const auto waits = [now = clock::now()](const auto& entry) { return entry.first > now; };
  const auto due = std::stable_partition(parked_.begin(), parked_.end(), waits);
  const std::vector woken(due, parked_.end());
  parked_.erase(due, parked_.end());
  if (!parked_.empty()) set_alarm(std::ranges::min_element(parked_)->first);
  if (is_cluster() && map_is_old_) refresh_map();
  for (const auto& [time, j] : woken) place(*j);
}

}  // namespace everseen::redis
