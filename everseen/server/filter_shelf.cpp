#include "everseen/server/filter_shelf.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "everseen/core/error.hpp"
#include "everseen/filter/open_store.hpp"
#include "everseen/server/key_names.hpp"
#include "everseen/server/outage.hpp"
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
      follows_room_(!o.max_memory_bytes && !is_memory_),
      max_bytes_(o.max_memory_bytes.value_or(place_->room_bytes().value_or(no_limit))) {}

std::shared_ptr<shared_filter> filter_shelf::find(std::string_view key) const {
  const std::shared_lock beside_others(lock_);
  const auto found = open_.find(key);
  return found == open_.end() ? nullptr : found->second;
}

std::shared_ptr<shared_filter> filter_shelf::open(std::string_view key) {
  if (auto found = find(key)) return found;
  return fetch(key, access::write);
}

std::shared_ptr<shared_filter> filter_shelf::peek(std::string_view key) {
  if (auto found = find(key)) return found;
  return fetch(key, access::read);
}

std::shared_ptr<shared_filter> filter_shelf::fetch(std::string_view key, access how) {
  const std::string name = name_of(key);
  try {
    return changing_.join(key, [&] {
      auto found = find(key);
      if (found) return found;
      if (!place_->exists(name)) return forget_record(key), found;
      auto stored = place_->open(name, how);
      return how == access::write ? put(key, std::move(stored), {}) : aside(key, std::move(stored));
    });
  } catch (const error& why) {
    if (is_outage(why)) notes_.note_outage(name, why.what());
    throw;
  }
}

std::shared_ptr<shared_filter> filter_shelf::aside(std::string_view key,
                                                   std::shared_ptr<stored_filter> stored) {
  filter seen(name_of(key), std::move(stored));
  auto record = std::make_shared<filter_record>(seen.get_spec());
  return std::make_shared<shared_filter>(std::string(key), std::move(seen), wishes{}, std::move(record),
                                         workers_, joined_, notes_);
}

void filter_shelf::reserve(std::uint64_t bytes) {
  const std::scoped_lock alone(reserving_);
  const std::uint64_t taken = bytes_ + reserved_, most = max_bytes_;
  if (bytes > most || taken > most - bytes)
    throw no_room("a filter of this size would take " + std::to_string(bytes) + " bytes, and " +
                  std::to_string(taken) + " of " + std::to_string(most) + " are taken");
  reserved_ += bytes;
}

std::shared_ptr<shared_filter> filter_shelf::create(std::string_view key, const request& r) {
  const std::string name = name_of(key);
  const turns::turn alone = changing_.take(key);
  if (find(key)) throw name_taken("item exists");
  const spec s = plan(r.spec, r.wished);
  const std::uint64_t wanted = planned_bytes(s);
  reserve(wanted);
  const auto settle = [&](std::uint64_t made) {
    const std::scoped_lock alone_again(reserving_);
    reserved_ -= wanted;
    bytes_ += made;
  };
  try {
    const bool ends_in_the_store = r.life && !is_memory_;
    auto made =
        put(key, ends_in_the_store ? place_->create_expiring(name, s, *r.life) : place_->create(name, s),
            r.wished);
    settle(wanted);
    forget_listing();
    return made;
  } catch (...) {
    settle(0);
    throw;
  }
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
  // What a client asks for by name it gets.
  const bool is_open = !r.layout && !r.probes && !r.partitions && r.hash == hash_kind::xxh3;
  if (redisbloom_layout_ && is_open && !r.window) {
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
  filter opened(name_of(key), std::move(stored));
  const std::scoped_lock alone(lock_);
  auto record = record_of(key, opened.get_spec());
  auto made = std::make_shared<shared_filter>(std::string(key), std::move(opened), w, std::move(record),
                                              workers_, joined_, notes_);
  return open_.insert_or_assign(std::string(key), std::move(made)).first->second;
}

std::shared_ptr<filter_record> filter_shelf::record_of(std::string_view key, const spec& s) {
  auto& record = records_[std::string(key)];
  if (!record || record->spec != s) record = std::make_shared<filter_record>(s);
  return record;
}

void filter_shelf::forget_record(std::string_view key) {
  const std::scoped_lock alone(lock_);
  if (const auto known = records_.find(key); known != records_.end()) records_.erase(known);
}

std::shared_ptr<shared_filter> filter_shelf::take(std::string_view key) {
  const std::scoped_lock alone(lock_);
  if (const auto known = records_.find(key); known != records_.end()) records_.erase(known);
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
  const turns::turn alone = changing_.take(key);
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
  return listings_.join("", [this] {
    std::uint64_t changes = 0;
    {
      const std::scoped_lock alone(listing_lock_);
      if (std::chrono::steady_clock::now() < listing_.good_until) return listing_.keys;
      changes = listing_.changes;
    }
    std::vector<std::string> keys;
    for (const std::string& name : place_->list())
      if (auto key = key_of(name)) keys.push_back(*std::move(key));
    std::sort(keys.begin(), keys.end());
    const std::scoped_lock alone(listing_lock_);
    listing_.keys = keys;
    if (place_->is_remote() && changes == listing_.changes)
      listing_.good_until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    return keys;
  });
}

void filter_shelf::forget_listing() {
  const std::scoped_lock alone(listing_lock_);
  listing_.good_until = {};
  ++listing_.changes;
}

std::map<std::string, std::shared_ptr<filter_record>, std::less<>> filter_shelf::records() const {
  const std::shared_lock beside_others(lock_);
  return records_;
}

void filter_shelf::look_at_figures() {
  for (const auto& each : opened())
    if (!notes_.gives_up()) each->record->figures.look_at(each->handle, recent_figures::clock::now());
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
  std::exception_ptr first;
  for (const auto& each : opened()) try {
      each->handle.sync();
    } catch (const error&) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

void filter_shelf::tend(event_time now) {
  std::uint64_t all = 0;
  std::uint64_t there = 0;
  for (const auto& each : opened()) {
    if (is_memory_ && each->ends_at_ms <= now.time_since_epoch().count()) {
      const std::string key = each->key;
      workers_.submit([this, key] { drop(key); });
      continue;
    }
    // What servers keep is theirs to limit, and asking them costs a round trip.
    if (!place_->is_remote()) {
      const std::uint64_t has = each->handle.info().bytes;
      each->bytes = std::max(each->planned_bytes, has);
      there += has;
    }
    all += each->bytes;
  }
  if (follows_room_)
    if (const auto room = place_->room_bytes())
      max_bytes_ = *room > no_limit - there ? no_limit : *room + there;
  bytes_ = all;
}

}  // namespace everseen::server
