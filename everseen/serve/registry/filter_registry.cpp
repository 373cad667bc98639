#include "everseen/serve/registry/filter_registry.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
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

}  // namespace everseen::serve
