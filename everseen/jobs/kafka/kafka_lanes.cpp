#include "everseen/jobs/kafka/kafka_lanes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace everseen {

void kafka_lanes::begin(const std::string& lane, std::uint64_t from, start_decider decider) {
  const std::lock_guard lock(mutex_);
  state fresh;
  if (decider == start_decider::group) fresh.start_by_group = from;
  fresh.generation = ++generations_;
  fresh.given = fresh.settled = fresh.committed = from;
  lanes_.insert_or_assign(lane, std::move(fresh));
}

std::optional<std::uint64_t> kafka_lanes::start_by_group(std::string_view lane) const {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(lane);
  return found == lanes_.end() ? std::nullopt : found->second.start_by_group;
}

void kafka_lanes::lose(std::string_view lane) {
  const std::lock_guard lock(mutex_);
  if (const auto found = lanes_.find(lane); found != lanes_.end()) found->second.mine = false;
}

void kafka_lanes::forget(std::string_view lane) {
  const std::lock_guard lock(mutex_);
  if (const auto found = lanes_.find(lane); found != lanes_.end()) lanes_.erase(found);
}

source::ownership kafka_lanes::ownership_of(std::string_view lane, std::uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.generation != generation) return source::ownership::gone;
  return found->second.mine ? source::ownership::ours : source::ownership::leaving;
}

kafka_lanes::generation_given kafka_lanes::give(std::string_view lane, std::uint64_t next) {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end()) return {};
  found->second.under_way.push_back(next);
  found->second.given = next;
  return {found->second.generation, std::exchange(found->second.untouched, false)};
}

void kafka_lanes::settle(std::string_view lane, std::uint64_t position) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(lane);
    if (found == lanes_.end()) return;
    std::erase_if(found->second.under_way, [&](std::uint64_t end) { return end <= position; });
    // A late settlement of an earlier generation would move it back.
    found->second.settled = std::max(found->second.settled, position);
  }
  changed_.notify_all();
}

void kafka_lanes::abandon(const source_batch& batch) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(batch.lane);
    if (found == lanes_.end() || found->second.generation != batch.generation) return;
    // Of two batches with one end, such as one that only ends a lane, the later is not claimed.
    std::deque<std::uint64_t>& ends = found->second.under_way;
    if (const auto last = std::find(ends.rbegin(), ends.rend(), batch.next); last != ends.rend())
      ends.erase(std::next(last).base());
  }
  changed_.notify_all();
}

bool kafka_lanes::is_idle(std::string_view lane) const {
  const auto found = lanes_.find(lane);
  return found == lanes_.end() || found->second.under_way.empty();
}

bool kafka_lanes::wait_until_idle(std::span<const std::string> lanes, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] {
    return std::ranges::all_of(lanes, [&](const std::string& lane) { return is_idle(lane); });
  });
}

std::vector<kafka_lanes::progress> kafka_lanes::uncommitted() const {
  const std::lock_guard lock(mutex_);
  std::vector<progress> found;
  for (const auto& [name, lane] : lanes_)
    if (lane.settled > lane.committed) found.push_back({name, lane.settled});
  return found;
}

void kafka_lanes::committed(std::string_view lane, std::uint64_t position) {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found != lanes_.end()) found->second.committed = std::max(found->second.committed, position);
}

std::vector<kafka_lanes::progress> kafka_lanes::given() const {
  const std::lock_guard lock(mutex_);
  std::vector<progress> found;
  for (const auto& [name, lane] : lanes_)
    if (lane.mine) found.push_back({name, lane.given});
  return found;
}

}  // namespace everseen
