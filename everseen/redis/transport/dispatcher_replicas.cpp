#include "everseen/redis/transport/server.hpp"

/// What must be on replicas before it counts as answered.
namespace everseen::redis {

/// Only the WAIT is repeated, over the connection that wrote: a WAIT refers to the last writes of its own
/// connection.
void dispatcher::replicas_told(server& by, const reply& r) {
  if (r.is_error()) return waits_refused(by, r);
  const auto answered = std::exchange(by.unacknowledged, {});
  const auto held = std::exchange(by.held, {});
  const std::int64_t there = r.integer();
  const bool enough = there >= static_cast<std::int64_t>(url_.wait_replicas);
  const std::string lack = "only " + std::to_string(there) + " of the " + std::to_string(url_.wait_replicas) +
                           " replicas that wait= requires have the writes of redis at " +
                           to_string(by.where) + ". Check the replicas, or require fewer";
  by.lacks_replicas = !enough;
  by.acknowledged_at = enough ? clock::now() : clock::time_point{};
  for (job* j : answered) {
    if (enough) {
      conclude(by, *j);
      continue;
    }
    j->may_have_run = true;
    wait_for_replicas(*j, by.unacknowledged, {lack});
  }
  for (job* j : held)
    enough ? by.send(*j) : wait_for_replicas(*j, by.held, {lack + "; nothing was added there"});
  by.ask_for_replicas();
}

void dispatcher::wait_for_replicas(job& j, std::vector<job*>& among, const failure& why) {
  if (!j.trouble_since) j.trouble_since = clock::now();
  if (tries_again(j, why))
    among.push_back(&j);
  else
    complete(j, tl::unexpected(j.ended_by(why)));
}

/// If so, an answer to a job that waits for no replicas does not mean that the outage has ended.
bool dispatcher::lacks_replicas() const {
  return std::ranges::any_of(servers_, [](const auto& each) { return each.second->lacks_replicas; });
}

/// The server is no longer a master, or an ACL forbids WAIT.
void dispatcher::waits_refused(server& by, const reply& r) {
  const std::string said =
      "redis at " + to_string(by.where) + " refused the WAIT that wait= requires: " + std::string(r.text());
  by.lacks_replicas = false;
  by.acknowledged_at = {};
  map_is_old_ = true;
  by.renew = !is_cluster();
  const pause p = by.pauses.next();
  for (job* j : std::exchange(by.unacknowledged, {})) {
    j->may_have_run = true;
    trouble(*j, {said, is_denial(r) || !j->asked().repeatable}, p);
  }
  for (job* j : std::exchange(by.held, {})) trouble(*j, {said, is_denial(r)}, p);
}

}  // namespace everseen::redis
