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

#include "everseen/filter/foreign_file.hpp"
#include "everseen/server/filter_room.hpp"
#include "everseen/server/key_listing.hpp"
#include "everseen/server/options.hpp"
#include "everseen/server/shared_filter.hpp"
#include "everseen/server/turns.hpp"
#include "everseen/server/worker_pool.hpp"
#include "everseen/store/store.hpp"

namespace everseen::server {

/// A store, and what its URL says of it.
struct store_place {
  std::shared_ptr<everseen::store> store;
  bool batches_wait = false;  ///< a batch waits for a round trip or a sync
  bool is_memory = false;     ///< filters end with this process
};
/// @throws error  as everseen::open_store
[[nodiscard]] store_place open_place(std::string_view url);

/// The filters of a store by the keys that clients call them, each open once for all.
///
/// Only find() returns at once; everything else may wait for the store. Threads: any number.
class filter_shelf {
 public:
  /// The threads that it has work done by; they outlive it.
  struct threads {
    worker_pool& workers;
    /// For batches alone, which wait for nobody but the store: who drops a filter waits on a worker until the
    /// batches of that filter are through, and would else wait for those that stand behind him in the queue.
    worker_pool& batches;
  };
  /// @param notes  of what becomes of batches; outlives the shelf
  filter_shelf(const store_place& where, const options& o, threads by, batch_notes& notes);

  /// A filter that is open, or null.    Cost: a shared lock and a look-up.
  [[nodiscard]] std::shared_ptr<shared_filter> find(std::string_view key) const;

  /// A filter that exists, or null. Who asks for one while the store is known to be away is told so at once.
  /// @throws error  as store::open
  [[nodiscard]] std::shared_ptr<shared_filter> open(std::string_view key);

  /// A filter that exists, or null, only to be looked at: one that is not open is not kept, nor locked
  /// against others.    @throws error  as store::open
  [[nodiscard]] std::shared_ptr<shared_filter> peek(std::string_view key);

  /// How a new filter is to be.
  struct request {
    spec_request spec;
    wishes wished{};
    std::optional<std::chrono::milliseconds> life{};  ///< it ends after this, used or not
    std::optional<hash_kind> hash{};                  ///< of our layouts, if asked for; see is_open_to_others
  };
  /// @throws name_taken  there is one    @throws no_room    @throws error  as store::create
  open_filter create(std::string_view key, const request& r);
  /// @throws  as open and create
  open_filter open_or_create(std::string_view key, const request& r);

  /// A filter of RedisBloom's chunks that is being made, and its room.
  struct load {
    filter_room::share room;
    filter_room::share made;  ///< of that, what the disk has given already
    std::unique_ptr<redisbloom_loader> loader;
  };
  /// @throws name_taken  there is one    @throws no_room    @throws format_error    @throws error  as
  /// store::begin_restore
  [[nodiscard]] load begin_load(std::string_view key, std::span<const std::byte> header);
  /// @throws format_error  it is not the next chunk
  void load_chunk(load& of, std::int64_t iterator, std::span<const std::byte> bytes);
  /// From now on the filter is there.    @pre all chunks have come
  void finish_load(std::string_view key, load whole);

  [[nodiscard]] bool exists(std::string_view key) const;
  /// @return false  there was none
  bool drop(std::string_view key);
  /// @throws no_filter   there is none of the old key    @throws name_taken  there is one of the new key, and
  /// it stays    @throws error  as store::rename
  void rename(std::string_view from, std::string_view to, everseen::store::namesake there);
  /// Keys in ascending order; see key_listing.
  [[nodiscard]] std::vector<std::string> keys() { return listing_.keys(); }
  /// Something was made or dropped by others.
  void forget_listing() { listing_.forget(); }
  /// What is known of every filter that was opened and not dropped.
  [[nodiscard]] std::map<std::string, std::shared_ptr<filter_record>, std::less<>> records() const;
  /// Makes the figures of all open filters recent. Waits for the store.
  void look_at_figures();

  /// Makes a filter be opened anew when it is used next: what is open may not be what the store has. Whoever
  /// asks for it next waits until nobody has this one, so the caller must let go of it before it asks itself.
  void forget(const std::shared_ptr<shared_filter>& f);
  /// Does so where an error says that the filter which is open has gone, got another name or was made again
  /// by somebody else: what was asked may be asked once more.
  /// @pre the caller does not hold the filter, for the reason that forget() gives    @return false  the error
  /// says something else
  bool forget_changed(std::string_view key, const error& why);

  /// Makes what was acknowledged survive a power loss.    @throws storage_error
  void sync();

  /// Sees to it that filters go whose time is up, and looks at how much memory the others take. To be called
  /// some times a second.
  void tend();

  /// Whether the filters may take no more memory: keys that need a place must be refused.
  [[nodiscard]] bool is_full() const noexcept { return room_.is_full(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return room_.taken(); }
  [[nodiscard]] std::uint64_t max_bytes() const noexcept { return room_.most(); }
  void set_max_bytes(std::uint64_t most) noexcept {
    follows_room_ = false;
    room_.set_most(most);
  }

  /// Whether a batch waits for a round trip or a sync, so that it must not be judged where clients are
  /// served.
  [[nodiscard]] bool batches_wait() const noexcept { return batches_wait_; }
  /// Whether filters end with this process.
  [[nodiscard]] bool is_memory() const noexcept { return is_memory_; }
  [[nodiscard]] everseen::store& place() const noexcept { return *place_; }

 private:
  [[nodiscard]] spec plan(const request& asked) const;
  std::shared_ptr<shared_filter> put(std::string_view key, std::shared_ptr<stored_filter> stored, wishes w,
                                     filter_room::share taken);
  [[nodiscard]] std::shared_ptr<stored_filter> make(std::string_view name, const spec& s,
                                                    std::optional<std::chrono::milliseconds> life) const;
  /// Nobody finds the filter any more.    @return ready once nobody has it any more; none: it is not open
  [[nodiscard]] std::shared_future<void> take_off(std::string_view key);
  /// The one that is open, though its time may be up.
  [[nodiscard]] std::shared_ptr<shared_filter> find_any(std::string_view key) const;
  /// Takes a filter off and waits until nobody uses it and its store has closed it: a store changes nothing
  /// about one that is written to.
  /// @pre its turn is taken, and the caller does not use it
  /// @return false  none was open    @throws storage_error  somebody uses it still
  bool close(std::string_view key);
  /// Closes a filter, and of one that has ended gives back at once what it takes in the store, as nobody
  /// counts it from then on.    @pre as close()    @return true  there is none
  bool close_if_over(std::string_view key, std::string_view name);
  /// Those that are open now, one after the other; none is kept open meanwhile but the one that is visited.
  void for_each_open(const std::function<void(shared_filter&)>& visit) const;
  void tend_names();
  void look_at_names();
  void look_at(shared_filter& f) const;
  void remove_ended();
  [[nodiscard]] bool counts(const shared_filter& f) const;
  [[nodiscard]] std::shared_ptr<shared_filter> fetch(std::string_view key, access how);
  /// One that is not kept.
  [[nodiscard]] std::shared_ptr<shared_filter> aside(std::string_view key,
                                                     std::shared_ptr<stored_filter> stored);
  /// @pre lock_ is held
  [[nodiscard]] std::shared_ptr<filter_record> record_of(std::string_view key, const spec& s);
  void forget_record(std::string_view key);

  /// A filter that is open, or that somebody has still who had it when it was.
  struct slot {
    std::shared_ptr<shared_filter> filter{};  ///< null: whoever wants it waits, and opens it anew
    std::shared_future<void> closed{};        ///< its destructor has run, whoever ran it
  };

  std::shared_ptr<everseen::store> place_;
  const threads threads_;
  batch_notes& notes_;
  const join_queue::limits joined_;
  const unsigned serving_threads_;
  const bool batches_wait_;
  const bool is_memory_;
  const bool redisbloom_layout_;
  const hash_kind hash_;  // where nobody asks for one
  /// Nobody has set a limit: it is what is free of the disk, which others use, too, and what the open filters
  /// have of it.
  std::atomic<bool> follows_room_;
  filter_room room_;  // outlives what is open
  filter_room made_by_loads_{UINT64_MAX};
  key_listing listing_;
  turns changing_{};  // of a name: while its filter is made, opened, renamed or dropped
  std::atomic<bool> is_removing_ = false;
  std::atomic<bool> is_looking_at_names_ = false;
  std::chrono::steady_clock::time_point names_looked_at_{};
  std::chrono::steady_clock::time_point removed_{};
  mutable std::shared_mutex lock_{};
  std::map<std::string, slot, std::less<>> open_{};
  std::map<std::string, std::shared_ptr<filter_record>, std::less<>> records_{};
};

}  // namespace everseen::server
