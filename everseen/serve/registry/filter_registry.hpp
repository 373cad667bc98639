#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/filter/filter_chunks.hpp"
#include "everseen/serve/base/options.hpp"
#include "everseen/serve/base/worker_pool.hpp"
#include "everseen/serve/registry/filter_budget.hpp"
#include "everseen/serve/registry/shared_filter.hpp"
#include "everseen/serve/registry/single_flight.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::serve {

/// The filters of a store by their keys on the protocol; each is opened once and shared by all clients.
///
/// Only find() never waits; every other function may wait for the store. Threads: any number.
class filter_registry {
 public:
  /// The threads for its work; they outlive it.
  struct threads {
    worker_pool& workers;
    /// Only for batches, which wait for nothing but the store. A worker that drops a filter waits for the
    /// batches of that filter; on the same pool, it could wait for batches queued behind itself.
    worker_pool& batches;
  };
  /// @param stats  records the results of batches; outlives the registry
  filter_registry(std::shared_ptr<everseen::store> place, const options& o, threads pool, batch_stats& stats);

  /// An open filter, or null.    Cost: a shared lock and a look-up.
  [[nodiscard]] std::shared_ptr<shared_filter> find(std::string_view key) const;

  /// An existing filter, or null. If the store failed recently for this key and another call retries, fails
  /// immediately.
  /// @throws error  as store::open
  [[nodiscard]] std::shared_ptr<shared_filter> open(std::string_view key);

  /// An existing filter, or null, for reading only: a filter that is not open is opened temporarily and not
  /// locked against others.    @throws error  as store::open
  [[nodiscard]] std::shared_ptr<shared_filter> peek(std::string_view key);

  /// The properties of a new filter.
  struct request {
    spec_request spec;
    requested_options requested{};
    std::optional<std::chrono::milliseconds> life{};  ///< it expires after this, used or not
    std::optional<hash_kind> hash{};                  ///< of our layouts, if requested; see is_open_to_others
  };
  /// @throws name_taken  it exists    @throws no_room    @throws error  as store::create
  open_filter create(std::string_view key, const request& r);
  /// A filter of exactly this spec.    @throws  as above
  open_filter create(std::string_view key, const spec& s, std::optional<std::chrono::milliseconds> life);
  /// @throws  as open and create
  open_filter open_or_create(std::string_view key, const request& r);

  /// A filter that is being loaded from its chunks, and its room.
  struct load {
    filter_budget::share room;
    filter_budget::share made;  ///< the part of `room` that is already allocated on disk
    std::unique_ptr<chunk_loader> loader;
  };
  /// @throws name_taken  it exists    @throws no_room    @throws format_error
  /// @throws error  as store::begin_restore
  [[nodiscard]] load begin_load(std::string_view key, std::span<const std::byte> header);
  /// @throws format_error  it is damaged, or of another filter
  void load_chunk(load& source, std::int64_t iterator, std::span<const std::byte> bytes);
  /// Makes the filter available.    @pre all chunks were loaded
  void finish_load(std::string_view key, load whole);

  /// What the store knows of an open filter now, as other clients may have changed it.
  /// @throws storage_error  its name now belongs to another filter; see forget_changed
  /// @throws error  as store::facts
  [[nodiscard]] filter_facts facts_of(const shared_filter& f) const;
  /// Sets the expiry of an open filter; nothing: never.    @throws error  as facts_of and store::expire_at
  void expire_at(shared_filter& f, std::optional<event_time> when);

  [[nodiscard]] bool exists(std::string_view key) const;
  /// @return false  there was none
  bool drop(std::string_view key);
  /// @throws no_filter   there is none of the old key    @throws name_taken  the new key exists and must
  ///         stay
  /// @throws error  as store::rename
  void rename(std::string_view from, std::string_view new_name, everseen::store::namesake there);
  /// @throws no_filter  there is none    @throws error  as store::reset
  void reset(std::string_view key);
  /// Keys in ascending order; see key_listing.
  [[nodiscard]] std::vector<std::string> keys() { return listing_.keys(); }
  /// Discards the cached listing: others have created or dropped a filter.
  void forget_listing() { listing_.forget(); }
  /// The records of all filters that were opened and not dropped.
  [[nodiscard]] std::map<std::string, std::shared_ptr<filter_record>, std::less<>> records() const;
  /// The names of these, in ascending order.    @param most  only the first of them
  [[nodiscard]] std::vector<std::string> recorded_names(std::size_t most) const;
  /// Refreshes the figures of all open filters. Waits for the store.
  void look_at_figures();

  /// Reopens a filter at its next use: the open one may differ from the store's. The next user waits until
  /// no thread holds this one, so the caller must release it before it asks again.
  void forget(const std::shared_ptr<shared_filter>& f);
  /// Calls forget() if an error says that the open filter was dropped, renamed or created again by another
  /// client: then the request may be retried once.
  /// @pre the caller does not hold the filter, for the same reason as in forget()
  /// @return false  the error has another cause
  bool forget_changed(std::string_view key, const error& why);

  /// Makes acknowledged changes survive a power loss.    @throws storage_error
  void sync();

  /// Removes expired filters, and measures the memory of the others. Called several times a second.
  void maintain();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return room_.taken(); }
  /// The limit of bytes(); 0: none, as in Redis.
  [[nodiscard]] std::uint64_t max_bytes() const noexcept {
    const std::uint64_t most = room_.most();
    return most == filter_budget::no_limit ? 0 : most;
  }
  void set_max_bytes(std::uint64_t most) noexcept {
    follows_room_ = false;
    room_.set_most(most == 0 ? filter_budget::no_limit : most);
  }

  /// The traits of the store, read at construction. If batches wait, they must not be judged on the thread of
  /// a connection.
  [[nodiscard]] const store_traits& traits() const noexcept { return traits_; }
  [[nodiscard]] everseen::store& place() const noexcept { return *place_; }

 private:
  [[nodiscard]] spec plan(const request& asked) const;
  open_filter create(std::string_view key, const spec& s, const requested_options& requested,
                     std::optional<std::chrono::milliseconds> life);
  /// A filter of the store, and what the store knew of it before.
  struct opened_filter {
    std::shared_ptr<stored_filter> stored;
    filter_facts known{};
  };
  [[nodiscard]] opened_filter open_stored(std::string_view name, access mode) const;
  std::shared_ptr<shared_filter> put(std::string_view key, opened_filter opened, requested_options w,
                                     filter_budget::share taken);
  [[nodiscard]] opened_filter make(std::string_view name, const spec& s,
                                   std::optional<std::chrono::milliseconds> life) const;
  /// Hides the filter from find().    @return ready once no thread holds it; invalid: it is not open
  [[nodiscard]] std::shared_future<void> take_off(std::string_view key);
  /// The open filter, even if it has expired.
  [[nodiscard]] std::shared_ptr<shared_filter> find_any(std::string_view key) const;
  /// Takes a filter off and waits until no thread uses it and its store has closed it: a store does not
  /// change a filter that is open for writing.
  /// @pre its name is held (single_flight), and the caller does not use it
  /// @return false  none was open    @throws storage_error  it is still in use
  bool close(std::string_view key);
  /// Closes a filter. If it has expired, also frees its space in the store immediately, as it is no longer
  /// counted.    @pre as close()    @return true  there is none
  bool close_if_over(std::string_view key);
  /// Visits the open filters one after the other; only the visited one is kept open meanwhile.
  void for_each_open(const std::function<void(shared_filter&)>& visit) const;
  void maintain_names();
  void look_at_names();
  void look_at(shared_filter& f) const;
  void remove_expired();
  [[nodiscard]] bool counts(const shared_filter& f) const;
  [[nodiscard]] std::shared_ptr<shared_filter> fetch(std::string_view key, access mode);
  /// A filter that is not kept.
  [[nodiscard]] std::shared_ptr<shared_filter> aside(std::string_view key, opened_filter opened);
  /// @pre lock_ is held
  [[nodiscard]] std::shared_ptr<filter_record> record_of(std::string_view key, const spec& s);
  void forget_record(std::string_view key);

  /// An open filter, or one that was taken off and is still in use.
  struct slot {
    std::shared_ptr<shared_filter> filter{};  ///< null: the next user waits, and opens it again
    std::shared_future<void> closed{};        ///< ready after its destructor has run, on any thread
  };

  const std::shared_ptr<everseen::store> place_;
  const store_traits traits_ = place_->traits();
  const threads threads_;
  batch_stats& stats_;
  const join_queue::limits joined_;
  const unsigned serving_threads_;
  const bool redisbloom_layout_;
  const std::optional<hash_kind> hash_;  // instead of the default
  /// Whether no limit was set. The limit is then the free disk space, which other programs also use, plus the
  /// space of the open filters.
  std::atomic<bool> follows_room_;
  filter_budget room_;  // outlives the open filters
  filter_budget made_by_loads_{UINT64_MAX};
  key_listing listing_;
  single_flight changing_{};  // by name: while its filter is created, opened, renamed or dropped
  std::atomic<bool> is_removing_ = false;
  std::atomic<bool> is_looking_at_names_ = false;
  std::chrono::steady_clock::time_point names_looked_at_{};
  std::chrono::steady_clock::time_point removed_{};
  mutable std::shared_mutex lock_{};
  std::map<std::string, slot, std::less<>> open_{};
  std::map<std::string, std::shared_ptr<filter_record>, std::less<>> records_{};
};

}  // namespace everseen::serve
