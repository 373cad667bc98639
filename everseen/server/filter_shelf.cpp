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

/// A store makes no filter that ends sooner, as making it may take as long.
constexpr std::chrono::seconds shortest_life{1};
/// Filters that ended while nobody had them open go so often.
constexpr std::chrono::seconds between_removals{10};

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
      max_bytes_(o.max_memory_bytes.value_or(place_->room_bytes().value_or(no_limit))),
      listing_(*place_) {}

std::shared_ptr<shared_filter> filter_shelf::find(std::string_view key) const {
  auto found = find_any(key);
  return found && !found->has_ended() ? found : nullptr;
}

std::shared_ptr<shared_filter> filter_shelf::find_any(std::string_view key) const {
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
      close(key);  // of one that has ended
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
  close(key);  // of one that has ended
  const spec s = plan(r.spec, r.wished);
  const std::uint64_t wanted = planned_bytes(s);
  reserve(wanted);
  const auto settle = [&](std::uint64_t made) {
    const std::scoped_lock alone_again(reserving_);
    reserved_ -= wanted;
    bytes_ += made;
  };
  try {
    const bool lasts = r.life && *r.life >= shortest_life;
    auto made =
        put(key, lasts ? place_->create_expiring(name, s, *r.life) : place_->create(name, s), r.wished);
    made->takes_room = true;
    settle(wanted);
    if (r.life && !lasts) made->end_at(wall_clock() + *r.life);
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
  std::shared_ptr<filter_record> record;
  {
    const std::scoped_lock alone(lock_);
    record = record_of(key, opened.get_spec());
  }
  auto made = std::make_shared<shared_filter>(std::string(key), std::move(opened), w, std::move(record),
                                              workers_, joined_, notes_);
  const std::scoped_lock alone(lock_);
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
  close(key);
  if (!place_->exists(*name)) return false;
  place_->drop(*name);
  forget_listing();
  return true;
}

void filter_shelf::close(std::string_view key) {
  auto taken = take(key);
  if (!taken) return;
  const std::weak_ptr<shared_filter> left = taken;
  taken.reset();
  for (int i = 0; i < 10'000 && !left.expired(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What is known of the filter beside its bits goes with it.
void filter_shelf::rename(std::string_view from, std::string_view to, everseen::store::namesake there) {
  const std::string old_name = name_of(from);
  const std::string name = name_of(to);
  const turns::both alone = changing_.take(from, to);
  if (!place_->exists(old_name)) throw no_filter("no such key");
  if (there == everseen::store::namesake::refuse && place_->exists(name)) throw name_taken("item exists");
  if (from == to) return;
  auto before = find(from);
  const wishes wished = before ? before->wished : wishes{};
  const auto record = before ? before->record : nullptr;
  const bool takes_room = before && before->takes_room;
  before.reset();
  close(from);
  close(to);
  place_->rename(old_name, name, there);
  forget_listing();
  if (!record) return;
  {
    const std::scoped_lock alone_again(lock_);
    records_[std::string(to)] = record;
  }
  try {
    put(to, place_->open(name, access::write), wished)->takes_room = takes_room;
  } catch (const error&) {
    // It has its name; whoever asks for it learns why it cannot be opened.
  }
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

void filter_shelf::remove_ended() {
  std::vector<std::string> ended;
  for (const auto& each : opened())
    if (each->has_ended()) ended.push_back(each->key);
  for (const std::string& key : ended) {
    const turns::turn alone = changing_.take(key);
    auto open = find_any(key);
    const bool is_over = open && open->has_ended();
    open.reset();
    if (is_over) close(key);
  }
  place_->remove_ended();
  forget_listing();
}

/// Who only looks at filters must not stop those who write to others.
bool filter_shelf::counts(const shared_filter& f) const {
  return is_memory_ || f.takes_room || f.record->count.batches(question::add) > 0;
}

void filter_shelf::tend() {
  std::uint64_t all = 0;
  std::uint64_t there = 0;
  bool has_ended = std::chrono::steady_clock::now() - removed_ > between_removals;
  for (const auto& each : opened()) {
    if (each->has_ended()) {
      has_ended = true;
      continue;
    }
    // What servers keep is theirs to limit, and asking them costs a round trip.
    if (!place_->is_remote()) {
      const std::uint64_t has = each->handle.info().bytes;
      each->bytes = std::max(each->planned_bytes, has);
      there += has;
    }
    if (counts(*each)) all += each->bytes;
  }
  if (follows_room_)
    if (const auto room = place_->room_bytes())
      max_bytes_ = *room > no_limit - there ? no_limit : *room + there;
  bytes_ = all;
  if (!has_ended || is_removing_.exchange(true)) return;
  removed_ = std::chrono::steady_clock::now();
  workers_.submit([this] {
    try {
      remove_ended();
    } catch (const error&) {
      // The next time.
    }
    is_removing_ = false;
  });
}

}  // namespace everseen::server
