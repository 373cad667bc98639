#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/registry/filter_budget.hpp"
#include "everseen/serve/registry/filter_registry.hpp"

/// How much room the filters of a registry take, and how expired ones free it.
namespace everseen::serve {

namespace {

constexpr std::uint64_t unlimited_bytes = std::numeric_limits<std::uint64_t>::max();

/// How often filters that expired while closed are removed.
constexpr std::chrono::seconds between_removals{10};

}  // namespace

void filter_registry::remove_expired() {
  std::vector<std::string> ended;
  {
    const std::scoped_lock alone(lock_);
    std::erase_if(open_, [](const auto& each) {
      using namespace std::chrono_literals;
      const slot& s = each.second;
      return !s.filter && s.closed.wait_for(0s) == std::future_status::ready;  // forgotten, and released
    });
    for (const auto& [key, held] : open_)
      if (held.filter && held.filter->has_expired()) ended.push_back(key);
  }
  for (const std::string& key : ended) {
    const single_flight::hold alone = changing_.take(key);
    auto open = find_any(key);
    const bool is_over = open && open->has_expired();
    open.reset();
    if (is_over) close(key);
  }
  place_->remove_expired();
  forget_listing();
}

/// A filter that is only read must not stop writes to others.
bool filter_registry::counts(const shared_filter& f) const {
  return traits_.is_memory || f.room.bytes() > 0 || f.record->count.batches(question::add) > 0;
}

void filter_registry::look_at(shared_filter& f) const {
  const std::uint64_t taken = f.room.takes();
  // Servers limit their own memory, and asking them costs a round trip.
  const std::uint64_t bytes = traits_.is_remote ? 0 : f.handle.info().bytes;
  f.bytes = bytes;
  const std::uint64_t beside_bits = bytes_beside_bits(f.handle.get_spec().partitions);
  if (counts(f) && !f.room.set({bytes + beside_bits, f.planned_bytes + beside_bits}, taken))
    f.is_new = true;  // it has just grown
}

/// If other clients may rename filters, names are checked once a second.
void filter_registry::maintain_names() {
  const auto current = std::chrono::steady_clock::now();
  if (!traits_.is_remote || current - names_looked_at_ < std::chrono::seconds(1) || stats_.gives_up()) return;
  if (is_looking_at_names_.exchange(true)) return;
  names_looked_at_ = current;
  threads_.workers.submit([this] {
    look_at_names();
    is_looking_at_names_ = false;
  });
}

void filter_registry::look_at_names() {
  std::vector<std::weak_ptr<shared_filter>> all;
  {
    const std::shared_lock beside_others(lock_);
    for (const auto& [key, held] : open_) all.emplace_back(held.filter);
  }
  for (const auto& each : all) {
    const auto f = each.lock();
    if (!f) continue;
    try {
      if (place_->facts(f->handle.name()).identity != f->identity) forget(f);
    } catch (const filter_expired&) {  // it is taken off like any other
    } catch (const no_filter&) {
      forget(f);
    } catch (const error&) {
      // The next check retries.
    }
  }
}

void filter_registry::maintain() {
  maintain_names();
  bool has_expired = std::chrono::steady_clock::now() - removed_ > between_removals;
  std::uint64_t there = made_by_loads_.taken();
  std::vector<std::weak_ptr<shared_filter>> changed;  // measuring a filter costs a lock for each partition
  {
    const std::shared_lock beside_others(lock_);
    for (const auto& [key, held] : open_) {
      if (!held.filter) continue;
      has_expired = has_expired || held.filter->has_expired();
      there += held.filter->bytes;
      if (held.filter->record->count.take_added() || held.filter->is_new.exchange(false))
        changed.emplace_back(held.filter);
    }
  }
  for (const auto& each : changed)
    if (const auto f = each.lock()) {
      there -= f->bytes;
      look_at(*f);
      there += f->bytes;
    }
  if (follows_room_)
    if (const auto room = place_->traits().room_bytes)
      room_.set_most(*room > unlimited_bytes - there ? unlimited_bytes : *room + there);
  if (!has_expired || is_removing_.exchange(true)) return;
  removed_ = std::chrono::steady_clock::now();
  threads_.workers.submit([this] {
    try {
      remove_expired();
    } catch (const error&) {
      // The next call retries.
    }
    is_removing_ = false;
  });
}

}  // namespace everseen::serve
