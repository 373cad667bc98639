#include <algorithm>
#include <iterator>

#include "everseen/redis/transport/server.hpp"

namespace everseen::redis {

tl::expected<endpoint, outage> dispatcher::server_of(const route& to) {
  if (is_cluster() && slots_.empty())
    if (answer known = learn_map(); !known) return tl::unexpected(std::move(known.error()));
  if (const endpoint* const found = owner_of(to)) return *found;
  return tl::unexpected(
      outage{"no server of the cluster has slot " + std::to_string(slot_of(to.key)), false});
}

/// Asks for the slots, even if they were just read. A request without a command is answered once they are
/// known.
answer dispatcher::learn_map() {
  map_is_old_ = true;
  map_read_ = {};
  const request no_command{{}, {}, 0, true};
  return std::move(run(std::span(&no_command, 1)).front());
}

void dispatcher::refresh_map() {
  if (map_job_) return;
  candidates_ = map_candidates();
  ask_next_candidate();
}

/// All known servers, the best last: those that are connected and had no trouble.
std::vector<endpoint> dispatcher::map_candidates() const {
  std::vector<endpoint> all = slots_.members();
  for (const endpoint& e : url_.endpoints)
    if (std::ranges::find(all, e) == all.end()) all.push_back(e);
  std::ranges::reverse(all);
  const auto is_doubtful = [this](const endpoint& e) {
    const auto known = servers_.find(e);
    return known != servers_.end() && !known->second->pauses.is_fresh();
  };
  const auto is_up = [this](const endpoint& e) {
    const auto known = servers_.find(e);
    return known != servers_.end() && known->second->link != nullptr;
  };
  const auto rest = std::stable_partition(all.begin(), all.end(), is_doubtful);
  std::stable_partition(rest, all.end(), [&](const endpoint& e) { return !is_up(e); });
  return all;
}

void dispatcher::ask_next_candidate() {
  fail_overdue();
  if (candidates_.empty()) return map_unknown();
  map_job_.emplace(map_request_, candidates_.back());
  candidates_.pop_back();
  place(*map_job_);
}

void dispatcher::read_map(std::vector<reply> replies) {
  const endpoint asked = *map_job_->pinned();
  if (auto map = slot_map::from_reply(replies.front(), asked)) {
    slots_ = std::move(*map);
    return map_known();
  }
  const std::string_view said = replies.front().text();
  const bool alone = said.find("cluster support disabled") != std::string_view::npos;
  map_failure_ = {"redis at " + to_string(asked) + ": ", alone};
  if (alone)
    map_failure_.message += "it is no cluster; its URL begins with redis://";
  else
    map_failure_.message += said.empty() ? "it knows no servers of its cluster" : std::string(said);
  ask_next_candidate();
}

void dispatcher::map_known() {
  map_job_.reset();
  map_is_old_ = false;
  map_read_ = clock::now();
  for (job* j : std::exchange(unplaced_, {})) place(*j);
}

/// Each candidate may take a while to fail. At least one of them is waited for.
void dispatcher::fail_overdue() {
  const auto now = clock::now();
  const auto enough = std::max(url_.retry_for, url_.connect_timeout);
  for (job*& j : unplaced_) {
    if (!j->trouble_since) j->trouble_since = now;
    if (now < *j->trouble_since + enough) continue;
    trouble(*j, map_failure_, {});
    j = nullptr;
  }
  std::erase(unplaced_, nullptr);
}

void dispatcher::map_unknown() {
  map_job_.reset();
  for (job* j : std::exchange(unplaced_, {})) trouble(*j, map_failure_, std::chrono::milliseconds(50));
}

}  // namespace everseen::redis
