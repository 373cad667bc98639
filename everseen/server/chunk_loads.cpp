#include "everseen/server/chunk_loads.hpp"

#include <algorithm>
#include <span>

#include "everseen/core/error.hpp"
#include "everseen/server/command.hpp"
#include "everseen/server/filter_shelf.hpp"

namespace everseen::server {

void chunk_loads::take(filter_shelf& into, std::string_view key, std::int64_t iterator,
                       std::string_view bytes) {
  const std::span<const std::byte> data = std::as_bytes(std::span(bytes));
  const std::scoped_lock alone(lock_);
  if (iterator == 1) {
    loads_.erase(std::string(key));
    make_room();
    if (into.open(key)) throw name_taken("item exists");  // one that has ended is closed by that
    try {
      loads_.emplace(key, load{into.begin_load(key, data), ++begun_});
    } catch (const format_error& why) {
      throw refusal{std::string("ERR received bad data: ") + why.what()};
    }
    return;
  }
  const auto found = loads_.find(key);
  if (found == loads_.end())
    throw refusal{into.exists(key) ? "ERR invalid offset - no link found" : "ERR not found"};
  try {
    found->second.loader->load(iterator, data);
    if (!found->second.loader->is_complete()) return;
    into.finish_load(key, *found->second.loader);
    loads_.erase(found);
  } catch (...) {
    loads_.erase(found);
    throw;
  }
}

void chunk_loads::make_room() {
  if (loads_.size() < most_loads) return;
  loads_.erase(std::min_element(loads_.begin(), loads_.end(), [](const auto& a, const auto& b) {
    return a.second.number < b.second.number;
  }));
}

}  // namespace everseen::server
