#include "everseen/redis/transport/server.hpp"

/// What must be on replicas before it counts as answered.
namespace everseen::redis {

/// Nothing is sent again: the connection is the one that wrote, and a WAIT is about what it wrote last.
void dispatcher::replicas_told(server& by, const reply& r) {
  const auto waiting = std::exchange(by.unacknowledged, {});
  if (r.is_error()) return waits_refused(by, waiting, r);
  const std::int64_t there = r.integer();
  const bool enough = there >= static_cast<std::int64_t>(url_.wait_replicas);
  const failure why = {"only " + std::to_string(there) + " of the " + std::to_string(url_.wait_replicas) +
                       " replicas that wait= asks for have what redis at " + to_string(by.where) +
                       " wrote. Look after the replicas, or ask for fewer"};
  by.lacks_replicas = !enough;
  for (job* j : waiting) {
    if (enough) {
      conclude(by, *j);
      continue;
    }
    if (!j->trouble_since) j->trouble_since = clock::now();
    j->may_have_run = true;
    if (tries_again(*j, why))
      by.unacknowledged.push_back(j);
    else
      settle(*j, tl::unexpected(j->ended_by(why)));
  }
  by.ask_for_replicas();
}

/// Then the answer to what waits for none does not say that an outage is over.
bool dispatcher::lacks_replicas() const {
  return std::ranges::any_of(servers_, [](const auto& each) { return each.second->lacks_replicas; });
}

/// It is no master any more, or an ACL forbids WAIT.
void dispatcher::waits_refused(server& by, const std::vector<job*>& waiting, const reply& r) {
  const std::string said =
      "redis at " + to_string(by.where) + " refused the WAIT that wait= asks for: " + std::string(r.text());
  by.lacks_replicas = false;
  map_is_old_ = true;
  by.renew = !is_cluster();
  const pause p = by.pauses.next();
  for (job* j : waiting) {
    j->may_have_run = true;
    trouble(*j, {said, is_denial(r) || !j->asked().repeatable}, p);
  }
}

}  // namespace everseen::redis
