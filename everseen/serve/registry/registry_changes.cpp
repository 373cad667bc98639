#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/serve/registry/filter_budget.hpp"
#include "everseen/serve/registry/filter_registry.hpp"

/// How filters of a registry are created, renamed and dropped.
namespace everseen::serve {

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
  return changing_.change(key, [&]() -> load {
    if (find(key)) throw name_taken("item exists");
    close(key);  // if it has expired
    auto loader = std::make_unique<chunk_loader>(*place_, std::string(key), header);
    const std::uint64_t bytes =
        loader->announced().bit_bytes() + bytes_beside_bits(loader->announced().spec.partitions);
    auto room = room_.reserve({bytes, bytes});
    return {std::move(room), filter_budget::share(made_by_loads_), std::move(loader)};
  });
}

void filter_registry::load_chunk(load& source, std::int64_t iterator, std::span<const std::byte> bytes) {
  source.loader->load(iterator, bytes);
  source.made.set(source.loader->bytes_made());
}

void filter_registry::finish_load(std::string_view key, load whole) {
  changing_.change(key, [&] {
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
  });
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
  return changing_.change(key, [&] {
    if (find(key)) throw name_taken("item exists");
    close(key);  // if it has expired
    const std::uint64_t beside_bits = bytes_beside_bits(s.partitions);
    auto taken = room_.reserve({beside_bits, planned_bytes(s) + beside_bits});
    auto made = put(key, make(key, s, life), requested, std::move(taken));
    forget_listing();
    return open_filter(std::move(made));
  });
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
  return changing_.change(key, [&] {
    if (close_if_over(key)) return false;
    try {
      place_->drop(key);
    } catch (const no_filter&) {  // it has just expired
      return false;
    }
    forget_listing();
    return true;
  });
}

/// A store does not change a filter that is open for writing.
void filter_registry::reset(std::string_view key) {
  changing_.change(key, [&] {
    if (!is_name(key) || close_if_over(key)) throw no_filter("no such key");
    place_->reset(key);
  });
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
  changing_.change(from, new_name, [&] {
    if (!place_->exists(from)) throw no_filter("no such key");
    if (there == everseen::store::namesake::refuse && place_->exists(new_name))
      throw name_taken("item exists");
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
  });
}

}  // namespace everseen::serve
