#include "everseen/serve/registry/filter_registry.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/serve/registry/filter_budget.hpp"

namespace everseen::serve {

namespace {

/// A filter whose destruction can be awaited: that of the object, not of the last shared_ptr. Until then it
/// asks for room before it grows.
std::pair<std::shared_ptr<shared_filter>, std::shared_future<void>> with_end(
    std::unique_ptr<shared_filter> f) {
  const auto closed = std::make_shared<std::promise<void>>();
  auto end = closed->get_future().share();
  f->handle.stored().ask_for_room(&f->room);
  return {{f.release(),
           [closed](shared_filter* last) {
             last->handle.stored().ask_for_room(nullptr);
             delete last;
             closed->set_value();
           }},
          std::move(end)};
}

}  // namespace

filter_registry::filter_registry(std::shared_ptr<everseen::store> place, const options& o, threads pool,
                                 batch_stats& stats)
    : place_(std::move(place)),
      threads_(pool),
      stats_(stats),
      joined_{o.batch_keys, std::max(1U, o.store_threads / 2)},
      serving_threads_(std::max(1U, o.threads)),
      redisbloom_layout_(o.redisbloom_layout),
      hash_(is_open_to_others(o) ? std::optional(hash_kind::siphash) : std::nullopt),
      follows_room_(!traits_.is_memory),
      room_(traits_.room_bytes.value_or(filter_budget::no_limit)),
      listing_(*place_) {
  if (o.max_memory_bytes) set_max_bytes(*o.max_memory_bytes);
}

std::shared_ptr<shared_filter> filter_registry::find(std::string_view key) const {
  auto found = find_any(key);
  return found && !found->has_expired() ? found : nullptr;
}

std::shared_ptr<shared_filter> filter_registry::find_any(std::string_view key) const {
  const std::shared_lock beside_others(lock_);
  const auto found = open_.find(key);
  return found == open_.end() ? nullptr : found->second.filter;
}

std::shared_ptr<shared_filter> filter_registry::open(std::string_view key) {
  if (auto found = find(key)) return found;
  return fetch(key, access::write);
}

std::shared_ptr<shared_filter> filter_registry::peek(std::string_view key) {
  if (auto found = find(key)) return found;
  return fetch(key, access::read);
}

std::shared_ptr<shared_filter> filter_registry::fetch(std::string_view key, access mode) {
  if (!is_name(key)) return nullptr;
  try {
    return changing_.join(key, [&] {
      auto found = find(key);
      if (found) return found;
      // A filter that has expired, or was forgotten.
      if (close_if_over(key)) return forget_record(key), found;
      opened_filter opened;
      try {
        opened = open_stored(key, mode);
      } catch (const filter_expired&) {  // just now
        return forget_record(key), found;
      }
      return mode == access::write ? put(key, std::move(opened), {}, filter_budget::share(room_))
                                   : aside(key, std::move(opened));
    });
  } catch (const error& why) {
    if (is_outage(why)) stats_.note_outage(std::string(key), why.what());
    throw;
  }
}

/// Asked first: if another filter gets the name meanwhile, the open one differs from what is known of it.
filter_registry::opened_filter filter_registry::open_stored(std::string_view name, access mode) const {
  filter_facts known = place_->facts(name);
  return {place_->open(name, mode), std::move(known)};
}

std::shared_ptr<shared_filter> filter_registry::aside(std::string_view key, opened_filter opened) {
  filter seen(std::string(key), std::move(opened.stored));
  auto record = std::make_shared<filter_record>(seen.get_spec());
  return std::make_shared<shared_filter>(std::string(key), std::move(seen), opened.known, requested_options{},
                                         std::move(record), filter_budget::share(room_), threads_.batches,
                                         joined_, stats_);
}

std::shared_ptr<shared_filter> filter_registry::put(std::string_view key, opened_filter opened,
                                                    requested_options w, filter_budget::share taken) {
  filter handle(std::string(key), std::move(opened.stored));
  std::shared_ptr<filter_record> record;
  {
    const std::scoped_lock alone(lock_);
    record = record_of(key, handle.get_spec());
  }
  auto [made, closed] = with_end(
      std::make_unique<shared_filter>(std::string(key), std::move(handle), opened.known, w, std::move(record),
                                      std::move(taken), threads_.batches, joined_, stats_));
  const std::scoped_lock alone(lock_);
  open_.insert_or_assign(std::string(key), slot{made, std::move(closed)});
  return std::move(made);
}

std::shared_ptr<filter_record> filter_registry::record_of(std::string_view key, const spec& s) {
  auto& record = records_[std::string(key)];
  if (!record || record->spec != s) record = std::make_shared<filter_record>(s);
  return record;
}

void filter_registry::forget_record(std::string_view key) {
  const std::scoped_lock alone(lock_);
  if (const auto known = records_.find(key); known != records_.end()) records_.erase(known);
}

std::shared_future<void> filter_registry::take_off(std::string_view key) {
  std::shared_ptr<shared_filter> ours;  // released without the lock: closing it may take a while
  const std::scoped_lock alone(lock_);
  if (const auto known = records_.find(key); known != records_.end()) records_.erase(known);
  const auto found = open_.find(key);
  if (found == open_.end()) return {};
  ours = std::move(found->second.filter);
  if (ours) ours->is_gone = true;
  return found->second.closed;
}

/// The open filter also answers for its old name after a rename.
filter_facts filter_registry::facts_of(const shared_filter& f) const {
  filter_facts info = place_->facts(f.handle.name());
  if (info.identity != f.identity)
    throw storage_error("other clients keep replacing the filter " + quoted_name(f.key) + "; try again", 0,
                        f.key);
  return info;
}

void filter_registry::expire_at(shared_filter& f, std::optional<event_time> when) {
  (void)facts_of(f);
  place_->expire_at(f.handle.name(), when);
  f.set_expiry(when);
}

bool filter_registry::exists(std::string_view key) const {
  return find(key) || (is_name(key) && place_->exists(key));
}

std::map<std::string, std::shared_ptr<filter_record>, std::less<>> filter_registry::records() const {
  const std::shared_lock beside_others(lock_);
  return records_;
}

std::vector<std::string> filter_registry::recorded_names(std::size_t most) const {
  std::vector<std::string> names;
  const std::shared_lock beside_others(lock_);
  for (auto each = records_.begin(); each != records_.end() && names.size() < most; ++each)
    names.push_back(each->first);
  return names;
}

void filter_registry::look_at_figures() {
  for_each_open([this](shared_filter& f) {
    if (!stats_.gives_up()) f.record->figures.look_at(f.handle, recent_figures::clock::now());
  });
}

void filter_registry::for_each_open(const std::function<void(shared_filter&)>& visit) const {
  std::vector<std::weak_ptr<shared_filter>> all;
  {
    const std::shared_lock beside_others(lock_);
    for (const auto& [key, held] : open_) all.emplace_back(held.filter);
  }
  for (const auto& each : all)
    if (const auto f = each.lock()) visit(*f);
}

void filter_registry::forget(const std::shared_ptr<shared_filter>& f) {
  const std::scoped_lock alone(lock_);
  f->is_gone = true;
  const auto found = open_.find(f->key);
  if (found != open_.end() && found->second.filter == f) found->second.filter.reset();
}

bool filter_registry::forget_changed(std::string_view key, const error& why) {
  const auto* changes_hands = dynamic_cast<const storage_error*>(&why);
  const bool is_changed = dynamic_cast<const no_filter*>(&why) != nullptr ||
                          (changes_hands != nullptr && changes_hands->code() == 0);
  const auto found = is_changed ? find_any(key) : nullptr;
  if (found) forget(found);
  return found != nullptr;
}

void filter_registry::sync() {
  std::exception_ptr first;
  for_each_open([&first](shared_filter& f) {
    try {
      f.handle.sync();
    } catch (const error&) {
      if (!first) first = std::current_exception();
    }
  });
  if (first) std::rethrow_exception(first);
}

/// How filters of a registry are created, renamed and dropped.

namespace {

/// From this capacity on, a filter gets several partitions for each thread, each with its own lock.
constexpr std::uint64_t capacity_to_share = 100'000;
constexpr std::uint32_t partitions_a_thread = 8;

/// Other clients may create and drop a filter of the same key in between, but not indefinitely.
constexpr int most_tries = 100;

/// How long to wait for users of a filter; longer than any healthy store takes.
constexpr std::chrono::seconds longest_use{10};

}  // namespace

filter_registry::load filter_registry::begin_load(std::string_view key, std::span<const std::byte> header) {
  validate_filter_name(key);
  const single_flight::hold alone = changing_.take(key);
  if (find(key)) throw name_taken("item exists");
  close(key);  // if it has expired
  auto loader = std::make_unique<chunk_loader>(*place_, std::string(key), header);
  const std::uint64_t bytes =
      loader->announced().bit_bytes() + bytes_beside_bits(loader->announced().spec.partitions);
  auto room = room_.reserve({bytes, bytes});
  return {std::move(room), filter_budget::share(made_by_loads_), std::move(loader)};
}

void filter_registry::load_chunk(load& source, std::int64_t iterator, std::span<const std::byte> bytes) {
  source.loader->load(iterator, bytes);
  source.made.set(source.loader->bytes_made());
}

void filter_registry::finish_load(std::string_view key, load whole) {
  const single_flight::hold alone = changing_.take(key);
  if (find(key)) throw name_taken("item exists");
  close(key);  // if it has expired
  whole.loader->commit();
  whole.loader.reset();
  forget_listing();
  try {
    put(key, open_stored(key, access::write), {}, std::move(whole.room));
  } catch (const error&) {
    // It exists; the next request for it reports why it cannot be opened.
  }
}

open_filter filter_registry::create(std::string_view key, const request& r) {
  return create(key, plan(r), r.requested, r.life);
}

open_filter filter_registry::create(std::string_view key, const spec& s,
                                    std::optional<std::chrono::milliseconds> life) {
  spec here = s;
  here.judge = place_->plan({}).judge;  // the client knows this server, and not who can judge in its store
  return create(key, here, {}, life);
}

open_filter filter_registry::create(std::string_view key, const spec& s, const requested_options& requested,
                                    std::optional<std::chrono::milliseconds> life) {
  validate_filter_name(key);
  const single_flight::hold alone = changing_.take(key);
  if (find(key)) throw name_taken("item exists");
  close(key);  // if it has expired
  const std::uint64_t beside_bits = bytes_beside_bits(s.partitions);
  auto taken = room_.reserve({beside_bits, planned_bytes(s) + beside_bits});
  auto made = put(key, make(key, s, life), requested, std::move(taken));
  forget_listing();
  return open_filter(std::move(made));
}

filter_registry::opened_filter filter_registry::make(std::string_view name, const spec& s,
                                                     std::optional<std::chrono::milliseconds> life) const {
  opened_filter made{place_->create(name, s, life)};
  try {
    made.known = place_->facts(name);
  } catch (const error&) {
    // It exists. As its identity is unknown, it is opened again by the next check of names.
    if (life) made.known.expires_at = wall_clock() + *life;
  }
  return made;
}

open_filter filter_registry::open_or_create(std::string_view key, const request& r) {
  for (int tries = 1;; ++tries) {
    if (auto found = open(key)) return open_filter(std::move(found));
    try {
      return create(key, r);
    } catch (const name_taken&) {  // another client was faster, and its filter may already be gone
      if (tries == most_tries) throw;
    }
  }
}

spec filter_registry::plan(const request& asked) const {
  spec_request r = asked.spec;
  r.hash = asked.hash ? asked.hash : hash_;
  // What a client explicitly requests is kept.
  const bool is_open = !r.layout && !r.probes && !r.partitions && !asked.hash;
  if (redisbloom_layout_ && is_open && !r.window) {
    r.layout = layout_kind::redisbloom;
    r.expansion = asked.requested.expansion;
    return place_->plan(r);
  }
  spec s = place_->plan(r);
  if (traits_.is_remote || r.partitions || is_foreign(s.layout) || s.capacity < capacity_to_share) return s;
  r.partitions = std::max(s.partitions, serving_threads_ > 1 ? partitions_a_thread * serving_threads_ : 1);
  return place_->plan(r);
}

bool filter_registry::drop(std::string_view key) {
  if (!is_name(key)) return false;
  const single_flight::hold alone = changing_.take(key);
  if (close_if_over(key)) return false;
  try {
    place_->drop(key);
  } catch (const no_filter&) {  // it has just expired
    return false;
  }
  forget_listing();
  return true;
}

/// A store does not change a filter that is open for writing.
void filter_registry::reset(std::string_view key) {
  const single_flight::hold alone = changing_.take(key);
  if (!is_name(key) || close_if_over(key)) throw no_filter("no such key");
  place_->reset(key);
}

bool filter_registry::close(std::string_view key) {
  const auto closed = take_off(key);
  if (!closed.valid()) return false;
  if (closed.wait_for(longest_use) != std::future_status::ready)
    throw storage_error("the filter " + quoted_name(key) +
                            " is in use: its store has not answered what it was asked before; try again",
                        EBUSY, std::string(key));
  const std::scoped_lock alone(lock_);
  if (const auto found = open_.find(key); found != open_.end()) open_.erase(found);
  return true;
}

bool filter_registry::close_if_over(std::string_view key) {
  const bool was_open = close(key);
  if (place_->exists(key)) return false;
  try {
    if (was_open) place_->remove_expired();
  } catch (const error&) {
    // A later call of maintain() retries.
  }
  return true;
}

/// The filter's record is discarded.
void filter_registry::rename(std::string_view from, std::string_view new_name,
                             everseen::store::namesake there) {
  validate_filter_name(from);
  validate_filter_name(new_name);
  const single_flight::both alone = changing_.take(from, new_name);
  if (!place_->exists(from)) throw no_filter("no such key");
  if (there == everseen::store::namesake::refuse && place_->exists(new_name)) throw name_taken("item exists");
  if (from == new_name) return;
  auto before = find(from);
  const requested_options requested = before ? before->requested : requested_options{};
  const auto record = before ? before->record : nullptr;
  filter_budget::share taken = before ? std::move(before->room) : filter_budget::share(room_);
  before.reset();
  close(from);
  const auto keep_open = [&](std::string_view key) {
    if (!record) return;
    {
      const std::scoped_lock alone_again(lock_);
      records_[std::string(key)] = record;
    }
    try {
      put(key, open_stored(key, access::write), requested, std::move(taken));
    } catch (const error&) {
      // It exists; the next request for it reports why it cannot be opened.
    }
  };
  try {
    close(new_name);
    place_->rename(from, new_name, there);
  } catch (...) {
    keep_open(from);
    throw;
  }
  forget_listing();
  keep_open(new_name);
}

/// How much room the filters of a registry take, and how expired ones free it.

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
