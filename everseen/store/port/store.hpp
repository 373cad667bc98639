#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/predecessor.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/ledger.hpp"
#include "everseen/store/port/retry_policy.hpp"

namespace everseen {

/// The size of a job's data.
struct job_size {
  std::uint64_t counters = 0;            ///< over all partitions: a name in two of them counts twice
  std::optional<std::uint64_t> bytes{};  ///< nothing if unknown
};

/// One named filter of a store: digests in, verdicts out, in batches.
///
/// Implementations use memory, files and servers; callers need not know which. The partition is the unit of
/// atomicity: the keys of one partition_batch are judged and added as one isolated step. Threads: any number
/// may call any function. If several add the same key, exactly one gets `fresh`.
class stored_filter {
 public:
  virtual ~stored_filter() = default;

  [[nodiscard]] virtual const spec& get_spec() const noexcept = 0;

  /// Whether batches must contain the keys themselves, because this filter hashes them differently from its
  /// spec. Never changes.
  [[nodiscard]] virtual bool wants_keys() const noexcept { return false; }

  /// Judges and adds. The batches are sent together; each is for a different partition.
  /// @return the sum over all batches, or the first failure; see batch_failure for its meaning per key
  virtual batch_result add(std::span<const partition_batch> batches) = 0;

  /// Judges and changes nothing.
  virtual batch_result check(std::span<const partition_batch> batches) const = 0;

  /// A consistent copy of the state of one partition.
  [[nodiscard]] virtual partition_state state(std::uint32_t partition) const = 0;

  /// A consistent copy of one partition including its bits: calls `visit` once per segment, while no keys are
  /// added to the partition.
  ///
  /// If another process writes to the filter, the copy cannot be isolated. It then has every key acknowledged
  /// before the visit began and possibly later ones; counts may lag behind the bits. restore::commit()
  /// corrects them.
  using segment_visitor =
      std::function<void(const segment_id&, const layer_state&, std::span<const std::byte>)>;
  virtual void visit_segments(std::uint32_t partition, const segment_visitor& visit) const = 0;

  /// Makes everything acknowledged so far survive a power loss.
  /// @throws storage_error  the disk failed; acknowledged keys may be lost at a power loss
  virtual void sync() = 0;

  /// The server that has a partition, as readable text; empty: this machine.
  /// @throws backend_error  unknown
  [[nodiscard]] virtual std::string place_of(std::uint32_t /*partition*/) const { return {}; }

  /// When the filter expires, by the clock of its store; nothing: never.
  /// @throws no_filter  it has expired    @throws storage_error, backend_error
  [[nodiscard]] virtual std::optional<event_time> expires_at() const { return {}; }
  /// Sets the time at which the filter expires, whether it is in use or not; nothing: never. It expires as a
  /// whole, for all clients.
  /// @throws parameter_error  it belongs to another program, or was opened for reading
  /// @throws no_filter        it has expired
  /// @throws storage_error, backend_error  the outcome is unknown
  virtual void expire_at(std::optional<event_time> when);

  /// Lets `p` decide how long calls are retried while the store is unavailable. No effect on local stores.
  /// @param p  null: the store's own limit    @pre no call is in progress
  virtual void wait_with(std::shared_ptr<retry_policy> /*p*/) {}

  /// Whether a name that it had when it was opened still refers to it: the name may have been given to
  /// another filter. May wait for the store.
  [[nodiscard]] virtual bool is_called(std::string_view /*name*/) const { return true; }

  /// The older filter that is asked before this one, while the link lasts; nothing: none.
  [[nodiscard]] virtual std::optional<predecessor> asks_first() const { return {}; }

  /// Opens the ledger of a job; creates it with this description if it does not exist.
  ///
  /// A filter with a ledger cannot be rebuilt, reset or linked to an older filter, since answers given to a
  /// job must stay true. The filter must outlive the returned object.
  /// @param job  follows the rules for filter names
  /// @throws parameter_error  the store has no ledgers, the filter belongs to another program, or the name is
  ///   invalid
  /// @throws storage_error, backend_error, format_error
  [[nodiscard]] virtual std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                            std::string_view description);

  /// The names of its jobs, ascending.
  [[nodiscard]] virtual std::vector<std::string> jobs() const { return {}; }

  /// @throws parameter_error  there is no such job    @throws storage_error, backend_error
  [[nodiscard]] virtual job_size size_of_job(std::string_view job) const;

  /// Removes all data of a job, including its counters; the keys that it added stay. Clients that still work
  /// on it get an error on their next settlement. If this fails halfway, the job has ended anyway: call again
  /// to free the rest.
  /// @throws parameter_error  there is no such job    @throws storage_error, backend_error
  virtual void end_job(std::string_view job);

  /// How batches reach the bits, as readable text, for example "redis, script"; empty: the bits are on this
  /// machine.
  [[nodiscard]] virtual std::string access_path() const { return {}; }
};

/// The mode in which a filter is opened. Files allow one writer at a time and any number of readers.
enum class access : std::uint8_t { read, write };

/// Keeps filters by name. Threads: any number may call any function.
class store {
 public:
  virtual ~store() = default;

  /// make_spec with the defaults of this store, since the cost of a key differs between memory and a server.
  /// @throws parameter_error  as make_spec; also if clients are to judge and there are no servers
  [[nodiscard]] virtual spec plan(const spec_request& request) const;

  /// @throws name_taken  a filter of this name exists    @throws storage_error
  virtual std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) = 0;

  /// Creates a filter that expires after some time, whether it is in use or not.
  /// @throws parameter_error  less than a second    @throws  as create
  virtual std::shared_ptr<stored_filter> create_expiring(std::string_view name, const spec& s,
                                                         std::chrono::milliseconds life) = 0;

  /// @throws no_filter        no filter has this name; filter_expired: it has expired
  /// @throws format_error     it is damaged, or of another version
  /// @throws storage_error    another process is writing to it, or files cannot be read
  virtual std::shared_ptr<stored_filter> open(std::string_view name, access how) = 0;

  [[nodiscard]] virtual bool exists(std::string_view name) const = 0;

  /// Names in ascending order, including damaged filters; opening those reports the damage.
  [[nodiscard]] virtual std::vector<std::string> list() const = 0;

  /// Removes a filter and all its bits.
  /// @throws no_filter        no filter has this name    @throws storage_error  it has a writer
  /// @throws parameter_error  another filter asks it first
  virtual void drop(std::string_view name) = 0;

  /// What happens to a filter that already has the new name.
  enum class namesake : std::uint8_t { refuse, replace };
  /// Renames a filter. It keeps everything else: keys, jobs, its expiry time. The change is atomic and
  /// survives a crash of any process. Open handles stay valid; readers of a file store get an error on their
  /// next batch and must reopen the filter by its new name.
  /// @throws no_filter        no filter has the old name
  /// @throws name_taken       a filter has the new name, and must not be replaced
  /// @throws parameter_error  one of them has a link, or is being rebuilt
  /// @throws format_error     one of them is damaged
  /// @throws storage_error    one of them has a writer    @throws backend_error
  virtual void rename(std::string_view from, std::string_view to, namesake there) = 0;

  /// Removes expired filters that are not open. They were already unusable but took up space.
  /// @throws storage_error
  virtual void remove_expired() {}

  /// Removes all keys of a filter; its spec stays. It never appears to be missing meanwhile.
  /// @throws no_filter        no filter has this name    @throws storage_error  it has a writer
  /// @throws format_error     it is damaged
  virtual void reset(std::string_view name) = 0;

  /// Makes clients that open `newer` from now on ask `older` first: see linked_filter. The same two filters
  /// may be linked again with another end. While it is asked, `older` cannot be dropped.
  /// @param life  duration by the clock of the store; nothing: until unlink()
  /// @throws no_filter        one of them does not exist
  /// @throws parameter_error  they cannot be linked: either already has another link, only the older has a
  ///   window, or the newer belongs to another program; or this store has no links
  /// @throws format_error     one of them is damaged    @throws storage_error, backend_error
  virtual void link(std::string_view older, std::string_view newer,
                    std::optional<std::chrono::milliseconds> life);

  /// Removes a link. Clients that have `newer` open continue to ask the older filter until they reopen it.
  /// @throws no_filter        it does not exist
  /// @throws parameter_error  it has no link    @throws storage_error, backend_error
  virtual void unlink(std::string_view newer);

  /// As stored_filter::end_job, but also if the job's data is damaged and prevents opening the filter.
  /// @throws  as open, and stored_filter::end_job
  virtual void end_job(std::string_view name, std::string_view job);

  /// Conditions under which filters of this store could lose or refuse keys, one readable sentence each.
  /// @throws backend_error  a server does not answer
  [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }

  /// The same for filters with jobs. Includes crashes after which this store could lose acknowledged data, so
  /// that a job would lose events or count too few.
  /// @throws backend_error  a server does not answer
  [[nodiscard]] virtual std::vector<std::string> job_warnings() const { return {}; }

  /// Lets `p` decide how long calls of this store and its filters are retried while it is unavailable, from
  /// the next call on. No effect on local stores.    @param p  null: the store's own limit
  virtual void wait_with(std::shared_ptr<retry_policy> /*p*/) {}

  /// Reserves the store for a server, if only one server can use it at a time. Destroying the returned object
  /// releases it, and so does a crash. Does not restrict access to any filter.
  /// @return null: any number of servers can share it
  /// @throws storage_error  another server has reserved it; says where and which
  [[nodiscard]] virtual std::shared_ptr<void> occupy() { return nullptr; }

  /// Whether a batch mostly waits for another machine, so that more threads than processors are useful.
  [[nodiscard]] virtual bool is_remote() const noexcept { return false; }

  /// Total bytes available for filters of this store, as far as known: the memory of this machine, or free
  /// disk space. A filter whose first layer is larger could never be filled.
  [[nodiscard]] virtual std::optional<std::uint64_t> room_bytes() const { return {}; }

  /// The longest segment that this store supports, regardless of space; nothing: any.
  [[nodiscard]] virtual std::optional<std::uint64_t> longest_segment_bytes() const { return {}; }

  /// A filter under construction from existing segments. commit() makes it visible as a whole; destroyed
  /// before, it leaves nothing behind.
  class restore {
   public:
    virtual ~restore() = default;
    /// Zeroed memory for the bits of the next segment, to be filled by the caller.
    virtual std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) = 0;
    /// Raises counts that lag behind their bits (after a copy beside a writer) to an estimate from the bits.
    virtual void commit() = 0;
  };
  /// @throws name_taken  a filter of this name exists    @throws storage_error
  virtual std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) = 0;

  /// A filter that is built while the existing filter of its name is in use, to have other keys, a larger
  /// capacity, or another error rate.
  ///
  /// On servers, the new filter takes the old one's place immediately and asks it first until commit(). All
  /// clients, including those that have the filter open, then add keys to the new one. So keys are `seen` as
  /// soon as they are given, and no client gets `fresh` for a key of the old filter. After commit() the new
  /// filter has the keys that it was given and those added since begin_rebuild(). Destroyed before commit(),
  /// it leaves a filter that knows the keys of both. With a base, all this begins with the first target() or
  /// commit(), after the last merge(). Keys added before that and not in the base must also be given. A base
  /// may be empty, with a state without slices for each partition: then nothing changes before target().
  ///
  /// In files, no other process can add keys meanwhile, and commit() exchanges the filters atomically.
  ///
  /// Threads: one at a time; target() any number.
  class rebuild {
   public:
    virtual ~rebuild() = default;
    /// The new filter, which receives the keys.
    [[nodiscard]] virtual std::shared_ptr<stored_filter> target() = 0;
    /// Adds bits to a segment of the base.
    virtual void merge(const segment_id& id, std::span<const std::byte> bits) = 0;
    /// @throws storage_error  another client dropped, emptied or rebuilt the filter meanwhile
    /// @throws format_error, backend_error
    virtual void commit() = 0;
  };
  /// @param s     the spec of the new filter; its hash, seed and window must be the old one's
  /// @param base  segments that it starts with, filled by merge(), for example those of a copy
  /// @throws parameter_error  the store does not support this, there is no such filter, or s does not fit it
  virtual std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                                 std::span<const partition_state> base);
};

/// Errors shared by all stores.
[[nodiscard]] no_filter no_such_filter(std::string_view name);
[[nodiscard]] name_taken filter_exists(std::string_view name);
[[nodiscard]] filter_expired filter_has_expired(std::string_view name);
[[nodiscard]] parameter_error no_such_job(std::string_view filter, std::string_view job);
/// @param what  an operation that is impossible while a filter has jobs, for example "be reset"
/// @throws parameter_error  the filter has jobs
void require_no_jobs(std::string_view filter, std::span<const std::string> jobs, std::string_view what);
/// Clients hash keys once for the old filter and the new one.
/// @throws parameter_error  the new one has another hash, seed or window
void require_rebuildable(const spec& old, const spec& next);
/// @throws parameter_error  the name is not valid for a filter either
void validate_job_name(std::string_view job);

/// Inserts a restored layer into a partition's state. Slices may arrive in any order, layers of a slice only
/// in ascending order.
/// @throws format_error  a layer arrives twice, or before the layers below it
void restore_layer(partition_state& state, const segment_id& id, const layer_state& layer);

/// When the writes of a file store reach the disk: doc/files.md, "Durability".
enum class sync_policy : std::uint8_t {
  always,    ///< before a batch is acknowledged; a power loss loses nothing
  interval,  ///< about once a second; a power loss loses that much, or more if a sync is slow
  never,     ///< when the kernel decides, about 30 seconds; a mere process crash loses nothing
};

}  // namespace everseen
