#include "everseen/serve/service/chunk_loads.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/registry/filter_registry.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::serve {

namespace {

refusal key_exists() {
  return {std::string(wire::loaded_key_exists) + "; drop it, or load under another key"};
}

}  // namespace

void chunk_loads::take(filter_registry& into, std::string_view key, std::int64_t iterator,
                       std::string_view bytes) {
  const std::span<const std::byte> data = std::as_bytes(std::span(bytes));
  const std::scoped_lock alone(lock_);
  try {
    iterator == 1 ? begin(into, key, data) : append_chunk(into, key, {iterator, checksum(data)}, data);
  } catch (const format_error& why) {
    throw refusal{std::string("ERR received bad data: ") + why.what()};
  } catch (const name_taken&) {
    throw key_exists();
  }
}

void chunk_loads::begin(filter_registry& into, std::string_view key, std::span<const std::byte> header) {
  const std::uint64_t its_checksum = checksum(header);
  // Sent again, since its answer was lost: the load goes on.
  if (const auto found = loads_.find(key); found != loads_.end() && found->second.header == its_checksum) {
    found->second.last_chunk = clock::now();
    return;
  }
  numbered begun{begin_in_room(into, key, header), its_checksum, ++begun_, clock::now()};
  forget_one(key);
  if (begun.load.loader->is_complete())  // a filter without keys has no other chunk
    return into.finish_load(key, std::move(begun.load));
  make_room();
  loads_.emplace(key, std::move(begun));
}

/// The load that is replaced gives way only if there is no room for both.
filter_registry::load chunk_loads::begin_in_room(filter_registry& into, std::string_view key,
                                                 std::span<const std::byte> header) {
  try {
    return into.begin_load(key, header);
  } catch (const no_room&) {
    const auto replaced = loads_.find(key);
    if (replaced == loads_.end()) throw;
    loads_.erase(replaced);
  }
  return into.begin_load(key, header);
}

void chunk_loads::append_chunk(filter_registry& into, std::string_view key, const last_chunk& last,
                               std::span<const std::byte> data) {
  const auto found = loads_.find(key);
  // The last chunk may be sent again when the filter is there already, and its load is gone.
  if (found == loads_.end() && has_completed(into, key, last)) return;
  if (found == loads_.end())
    throw into.exists(key)
        ? key_exists()
        : refusal{"ERR not found: the load begins with the header, the chunk of iterator 1"};
  try {
    into.load_chunk(found->second.load, last.iterator, data);
  } catch (const format_error&) {  // of the chunk alone
    throw;
  } catch (...) {
    loads_.erase(found);
    throw;
  }
  found->second.last_chunk = clock::now();
  if (!found->second.load.loader->is_complete()) return;
  filter_registry::load whole = std::move(found->second.load);
  loads_.erase(found);
  into.finish_load(key, std::move(whole));
  if (completed_.size() == most_loads) completed_.clear();
  completed_.insert_or_assign(std::string(key), last);
}

bool chunk_loads::has_completed(const filter_registry& in, std::string_view key,
                                const last_chunk& last) const {
  const auto found = completed_.find(key);
  return found != completed_.end() && found->second == last && in.exists(key);
}

void chunk_loads::forget(std::string_view key) {
  const std::scoped_lock alone(lock_);
  forget_one(key);
}

void chunk_loads::forget_one(std::string_view key) {
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

}  // namespace everseen::serve
