#include "everseen/jobs/redis/redis_stream_lanes.hpp"

#include <algorithm>
#include <utility>

namespace everseen::redis_stream {

void lanes::add(const consumer_name& as) {
  const std::lock_guard lock(mutex_);
  all_.try_emplace(as.name, state{as});
}

void lanes::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  all_.erase(name);
}

void lanes::begin_again(const consumer_name& as) {
  const std::lock_guard lock(mutex_);
  all_.insert_or_assign(as.name, state{as});
}

std::vector<std::string> lanes::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, each] : all_) names.push_back(name);
  std::rotate(names.begin(), std::ranges::upper_bound(names, last_read_), names.end());
  return names;
}

bool lanes::contains(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return all_.contains(name);
}

lanes::place lanes::place_of(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const state& entry = all_.at(name);
  return {entry.as, entry.after};
}

bool lanes::note(const std::string& name, bool begins, bool nothing) {
  const std::lock_guard lock(mutex_);
  state& entry = all_.at(name);
  if (begins || entry.generation == 0) {
    entry.generation = ++generations_;
    entry.begins = true;
    entry.given.clear();
  }
  entry.read = nothing;
  return entry.read && entry.given.empty();
}

bool lanes::is_read(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  return found == all_.end() || found->second.read;
}

void lanes::give(const std::string& name, source_batch& into) {
  const std::lock_guard lock(mutex_);
  state& from = all_.at(name);
  for (const source_record& each : into.records) from.given.push_back(each.position);
  from.after = into.records.back().position;
  last_read_ = name;
  into.lane = from.as.lane;
  into.next = from.after + 1;
  into.generation = from.generation;
  into.begins = std::exchange(from.begins, false);
}

std::vector<std::uint64_t> lanes::take_settled(const checkpoint& reached) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> done;
  for (auto& [name, each] : all_)
    for (auto& given = each.given;
         each.as.lane == reached.source && !given.empty() && given.front() < reached.position;
         given.pop_front())
      done.push_back(given.front());
  return done;
}

source::ownership lanes::ownership_of(std::string_view lane, std::uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  const bool ours = std::ranges::any_of(all_, [&](const auto& each) {
    return each.second.as.lane == lane && each.second.generation == generation;
  });
  return ours ? source::ownership::ours : source::ownership::gone;
}

}  // namespace everseen::redis_stream
