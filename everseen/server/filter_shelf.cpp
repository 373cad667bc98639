#include "everseen/server/filter_shelf.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "everseen/core/error.hpp"
#include "everseen/filter/open_store.hpp"
#include "everseen/server/key_names.hpp"
#include "everseen/server/planned_bytes.hpp"

namespace everseen::server {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// A filter of so many keys is worth some locks of its own for each thread.
constexpr std::uint64_t capacity_to_share = 100'000;
constexpr std::uint32_t partitions_a_thread = 8;

std::string name_of(std::string_view key) {
  auto name = filter_name_of(key);
  if (!name)
    throw parameter_error(
        "the key is too long for the name of a filter: 100 letters and digits, and each other byte counts "
        "for "
        "three");
  return *std::move(name);
}

}  // namespace

store_place open_place(std::string_view url) {
  store_place p{open_store(url), false, url == "mem:"};
  p.batches_wait = p.store->is_remote() || url.ends_with("?sync=always");
  return p;
}

filter_shelf::filter_shelf(const store_place& where, const options& o, worker_pool& workers,
                           batch_notes& notes)
    : place_(where.store),
      workers_(workers),
      notes_(notes),
      joined_{o.batch_keys, std::max(1U, o.store_threads / 2)},
      threads_(std::max(1U, o.threads)),
      batches_wait_(where.batches_wait),
      is_memory_(where.is_memory),
      redisbloom_layout_(o.redisbloom_layout),
      max_bytes_(o.max_memory_bytes.value_or(place_->room_bytes().value_or(no_limit))) {}

std::shared_ptr<shared_filter> filter_shelf::find(std::string_view key) const {
  const std::shared_lock beside_others(lock_);
  const auto found = open_.find(key);
  return found == open_.end() ? nullptr : found->second;
}

std::shared_ptr<shared_filter> filter_shelf::open(std::string_view key) {
  if (auto found = find(key)) return found;
  const std::string name = name_of(key);
  const std::scoped_lock alone(changing_);
  if (auto found = find(key)) return found;
  if (!place_->exists(name)) return nullptr;
  return put(key, place_->open(name, access::write), {});
}

std::shared_ptr<shared_filter> filter_shelf::create(std::string_view key, const request& r) {
  const std::string name = name_of(key);
  const std::scoped_lock alone(changing_);
  if (find(key)) throw name_taken("item exists");
  const spec s = plan(r.spec, r.wished);
  const std::uint64_t wanted = planned_bytes(s);
  if (wanted > max_bytes_ || bytes_ > max_bytes_ - wanted)
    throw no_room("a filter of this size would take " + std::to_string(wanted) + " bytes, and " +
                  std::to_string(bytes_) + " of " + std::to_string(max_bytes_) + " are taken");
  const bool ends_in_the_store = r.life && !is_memory_;
  auto made = put(
      key, ends_in_the_store ? place_->create_expiring(name, s, *r.life) : place_->create(name, s), r.wished);
  bytes_ += wanted;
  forget_listing();
  return made;
}

std::shared_ptr<shared_filter> filter_shelf::open_or_create(std::string_view key, const request& r) {
  if (auto found = open(key)) return found;
  try {
    return create(key, r);
  } catch (const name_taken&) {  // somebody else was faster between the two
    return open(key);
  }
}

spec filter_shelf::plan(spec_request r, const wishes& w) const {
  if (redisbloom_layout_ && !r.window) {
    r.layout = layout_kind::redisbloom;
    r.expansion = w.expansion;
    return place_->plan(r);
  }
  spec s = place_->plan(r);
  if (place_->is_remote() || r.partitions || is_foreign(s.layout) || s.capacity < capacity_to_share) return s;
  r.partitions = std::max(s.partitions, threads_ > 1 ? partitions_a_thread * threads_ : 1);
  return place_->plan(r);
}

std::shared_ptr<shared_filter> filter_shelf::put(std::string_view key, std::shared_ptr<stored_filter> stored,
                                                 wishes w) {
  auto made = std::make_shared<shared_filter>(std::string(key), filter(name_of(key), std::move(stored)), w,
                                              workers_, joined_, notes_);
  const std::scoped_lock alone(lock_);
  return open_.insert_or_assign(std::string(key), std::move(made)).first->second;
}

std::shared_ptr<shared_filter> filter_shelf::take(std::string_view key) {
  const std::scoped_lock alone(lock_);
  const auto found = open_.find(key);
  if (found == open_.end()) return nullptr;
  auto taken = std::move(found->second);
  open_.erase(found);
  taken->is_gone = true;
  return taken;
}

std::unique_ptr<redisbloom_loader> filter_shelf::begin_load(std::string_view key,
                                                            std::span<const std::byte> header) const {
  return std::make_unique<redisbloom_loader>(*place_, name_of(key), header);
}

bool filter_shelf::exists(std::string_view key) const {
  if (find(key)) return true;
  const auto name = filter_name_of(key);
  return name && place_->exists(*name);
}

bool filter_shelf::drop(std::string_view key) {
  const auto name = filter_name_of(key);
  if (!name) return false;
  const std::scoped_lock alone(changing_);
  // A store does not drop what somebody writes to, so the batches under way must have let go of it.
  if (auto taken = take(key)) {
    const std::weak_ptr<shared_filter> left = taken;
    taken.reset();
    for (int i = 0; i < 10'000 && !left.expired(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!place_->exists(*name)) return false;
  place_->drop(*name);
  forget_listing();
  return true;
}

std::vector<std::string> filter_shelf::keys() const {
  const std::scoped_lock alone(listing_lock_);
  const auto now = std::chrono::steady_clock::now();
  if (now < listing_.good_until) return listing_.keys;
  listing_.keys.clear();
  for (const std::string& name : place_->list())
    if (auto key = key_of(name)) listing_.keys.push_back(*std::move(key));
  std::sort(listing_.keys.begin(), listing_.keys.end());
  if (place_->is_remote()) listing_.good_until = now + std::chrono::seconds(1);
  return listing_.keys;
}

void filter_shelf::forget_listing() {
  const std::scoped_lock alone(listing_lock_);
  listing_.good_until = {};
}

std::vector<std::shared_ptr<shared_filter>> filter_shelf::opened() const {
  const std::shared_lock beside_others(lock_);
  std::vector<std::shared_ptr<shared_filter>> all;
  for (const auto& [key, filter] : open_) all.push_back(filter);
  return all;
}

void filter_shelf::forget(const std::shared_ptr<shared_filter>& f) {
  const std::scoped_lock alone(lock_);
  f->is_gone = true;
  const auto found = open_.find(f->key);
  if (found != open_.end() && found->second == f) open_.erase(found);
}

void filter_shelf::sync() {
  for (const auto& each : opened()) each->handle.sync();
}

void filter_shelf::tend(event_time now) {
  std::uint64_t all = 0;
  for (const auto& each : opened()) {
    if (is_memory_ && each->ends_at_ms <= now.time_since_epoch().count()) {
      const std::string key = each->key;
      workers_.submit([this, key] { drop(key); });
      continue;
    }
    // What servers keep is theirs to limit, and asking them costs a round trip.
    if (!place_->is_remote()) each->bytes = std::max(each->planned_bytes, each->handle.info().bytes);
    all += each->bytes;
  }
  bytes_ = all;
}

}  // namespace everseen::server
