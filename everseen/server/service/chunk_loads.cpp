#include "everseen/server/service/chunk_loads.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/server/base/command.hpp"
#include "everseen/server/registry/filter_registry.hpp"

namespace everseen::server {

void chunk_loads::take(filter_registry& into, std::string_view key, std::int64_t iterator,
                       std::string_view bytes) {
  const std::span<const std::byte> data = std::as_bytes(std::span(bytes));
  const std::scoped_lock alone(lock_);
  if (iterator == 1) {
    loads_.erase(std::string(key));
    completed_.erase(std::string(key));
    make_room();
    try {
      numbered begun{into.begin_load(key, data), ++begun_, clock::now()};
      if (begun.load.loader->is_complete())  // a filter without keys has no other chunk
        into.finish_load(key, std::move(begun.load));
      else
        loads_.emplace(key, std::move(begun));
    } catch (const format_error& why) {
      throw refusal{std::string("ERR received bad data: ") + why.what()};
    }
    return;
  }
  const auto found = loads_.find(key);
  if (found == loads_.end() && has_completed(into, key, {iterator, checksum(data)})) return;
  if (found == loads_.end())
    throw refusal{into.exists(key) ? "ERR invalid offset - no link found" : "ERR not found"};
  try {
    found->second.last_chunk = clock::now();
    into.load_chunk(found->second.load, iterator, data);
    if (!found->second.load.loader->is_complete()) return;
    into.finish_load(key, std::move(found->second.load));
  } catch (...) {
    loads_.erase(found);
    throw;
  }
  loads_.erase(found);
  if (completed_.size() == most_loads) completed_.clear();
  completed_.insert_or_assign(std::string(key), last_chunk{iterator, checksum(data)});
}

bool chunk_loads::has_completed(const filter_registry& in, std::string_view key, const last_chunk& by) const {
  const auto found = completed_.find(key);
  return found != completed_.end() && found->second == by && in.exists(key);
}

void chunk_loads::forget(std::string_view key) {
  const std::scoped_lock alone(lock_);
  if (const auto found = loads_.find(key); found != loads_.end()) loads_.erase(found);
  if (const auto found = completed_.find(key); found != completed_.end()) completed_.erase(found);
}

void chunk_loads::forget_all() {
  const std::scoped_lock alone(lock_);
  loads_.clear();
  completed_.clear();
}

void chunk_loads::forget_before(clock::time_point when) {
  const std::unique_lock alone(lock_, std::try_to_lock);
  if (alone) std::erase_if(loads_, [when](const auto& each) { return each.second.last_chunk < when; });
}

void chunk_loads::make_room() {
  if (loads_.size() < most_loads) return;
  loads_.erase(std::min_element(loads_.begin(), loads_.end(), [](const auto& a, const auto& b) {
    return a.second.number < b.second.number;
  }));
}

}  // namespace everseen::server
