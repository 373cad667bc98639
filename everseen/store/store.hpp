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

#include "everseen/core/error.hpp"
#include "everseen/core/partition.hpp"
#include "everseen/core/predecessor.hpp"
#include "everseen/core/spec.hpp"
#include "everseen/store/ledger.hpp"
#include "everseen/store/patience.hpp"

namespace everseen {

/// What is kept of a job.
struct job_size {
  std::uint64_t counters = 0;            ///< of all partitions: one that two of them have counts twice
  std::optional<std::uint64_t> bytes{};  ///< nothing where the store does not say
};

/// One named filter as a store keeps it: digests in, verdicts out, a batch at a time.
///
/// Below this port live memory, files and servers; above it nobody knows which. The partition is the unit of
/// atomicity: the keys of one partition_batch are judged and added as one step that nothing interleaves.
/// Threads: any number may call any function at once. Of many that add the same key, exactly one gets
/// `fresh`.
class stored_filter {
 public:
  virtual ~stored_filter() = default;

  [[nodiscard]] virtual const spec& get_spec() const noexcept = 0;

  /// Whether batches must bring the keys themselves, because this filter makes other hashes of them than its
  /// spec says. Never changes.
  [[nodiscard]] virtual bool wants_keys() const noexcept { return false; }

  /// Judges and adds. The batches go out together; each names a different partition.
  /// @return the sum over all batches, or the first failure; see batch_failure for what it says of each key
  virtual batch_result add(std::span<const partition_batch> batches) = 0;

  /// Judges and changes nothing.
  virtual batch_result check(std::span<const partition_batch> batches) const = 0;

  /// A consistent copy of what one partition remembers.
  [[nodiscard]] virtual partition_state state(std::uint32_t partition) const = 0;

  /// A consistent copy of one partition, bits included: `visit` is called once for each segment while nothing
  /// is added to the partition.
  ///
  /// Where another process writes to the filter, nothing can be held still: every key acknowledged before the
  /// visit began is in the copy, later ones may be, and counts may lag behind the bits. restore::commit()
  /// makes up for that.
  using segment_visitor =
      std::function<void(const segment_id&, const layer_state&, std::span<const std::byte>)>;
  virtual void visit_segments(std::uint32_t partition, const segment_visitor& visit) const = 0;

  /// Makes everything acknowledged so far survive a power loss.
  /// @throws storage_error  the disk refused; what was acknowledged may be lost at a power loss
  virtual void sync() = 0;

  /// Which server has a partition, for people to read; empty where this machine has it.
  /// @throws backend_error  nobody knows
  [[nodiscard]] virtual std::string place_of(std::uint32_t /*partition*/) const { return {}; }

  /// When the filter ends by itself, by the clock of its store; nothing: never.
  /// @throws no_filter  it has ended    @throws storage_error, backend_error
  [[nodiscard]] virtual std::optional<event_time> ends_at() const { return {}; }
  /// From now on it ends then, used or not; nothing: never. All of it ends at one moment, whoever has it
  /// open.
  /// @throws parameter_error  it is another program's, or was opened for reading
  /// @throws no_filter        it has ended    @throws storage_error, backend_error  whether is not known
  virtual void end_at(std::optional<event_time> when);

  /// Lets `p` decide for how long calls are made again while the store is away. Nothing changes where nobody
  /// can be away.    @param p  null: the store's own limit again    @pre no call is under way
  virtual void wait_with(std::shared_ptr<patience> /*p*/) {}

  /// Whether a name that it had when it was opened still leads to it: elsewhere it may have been given to
  /// another filter. May wait for the store.
  [[nodiscard]] virtual bool is_called(std::string_view /*name*/) const { return true; }

  /// The older filter that is asked before this one, as long as it is; nothing: none.
  [[nodiscard]] virtual std::optional<predecessor> asks_first() const { return {}; }

  /// The ledger of a job by its name, which is made if there is none, with this description.
  ///
  /// As long as a filter has a ledger it cannot be rebuilt, reset or given an older one to ask: what a job
  /// was told must stay true. The filter must outlive what this returns.
  /// @param job  as a filter is named
  /// @throws parameter_error  this store keeps no ledgers, the filter is another program's, or the name is
  /// none
  /// @throws storage_error, backend_error, format_error
  [[nodiscard]] virtual std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                            std::string_view description);

  /// The names of its jobs, ascending.
  [[nodiscard]] virtual std::vector<std::string> jobs() const { return {}; }

  /// @throws parameter_error  there is no such job    @throws storage_error, backend_error
  [[nodiscard]] virtual job_size size_of_job(std::string_view job) const;

  /// Removes all that is kept of a job, its counters, too; the keys that it added stay. Who still works on it
  /// is told by his next settlement that it is gone. Where this fails halfway the job is ended all the same:
  /// call again to free the rest.
  /// @throws parameter_error  there is no such job    @throws storage_error, backend_error
  virtual void end_job(std::string_view job);

  /// By which way batches reach the bits, for people to read, as in "redis, script"; empty where the bits are
  /// in this machine.
  [[nodiscard]] virtual std::string way() const { return {}; }
};

/// Whether a filter is opened to be changed. Files allow one writer at a time and any number of readers.
enum class access : std::uint8_t { read, write };

/// A place that keeps filters by name. Threads: any number may call any function at once.
class store {
 public:
  virtual ~store() = default;

  /// make_spec, as this store would have it: what a key costs differs between memory and a server.
  /// @throws parameter_error  as make_spec; also where clients are to judge and there are no servers
  [[nodiscard]] virtual spec plan(const spec_request& request) const;

  /// @throws name_taken  a filter of this name exists    @throws storage_error
  virtual std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) = 0;

  /// A filter that ends by itself after some time, used or not.
  /// @throws parameter_error  less than a second    @throws  as create
  virtual std::shared_ptr<stored_filter> create_expiring(std::string_view name, const spec& s,
                                                         std::chrono::milliseconds life) = 0;

  /// @throws no_filter        there is no filter of this name; filter_ended: not any more
  /// @throws format_error     it is damaged, or of another version
  /// @throws storage_error    another process writes to it, or files cannot be read
  virtual std::shared_ptr<stored_filter> open(std::string_view name, access how) = 0;

  [[nodiscard]] virtual bool exists(std::string_view name) const = 0;

  /// Names in ascending order, also of filters that are damaged; to open those says so.
  [[nodiscard]] virtual std::vector<std::string> list() const = 0;

  /// Removes a filter and all its bits.
  /// @throws no_filter        there is no filter of this name    @throws storage_error  it is being written
  /// @throws parameter_error  another filter asks it first
  virtual void drop(std::string_view name) = 0;

  /// What becomes of a filter that has a name already which another is to get.
  enum class namesake : std::uint8_t { refuse, replace };
  /// Gives a filter another name. It keeps all else: keys, jobs, its end. Under which of the two names it is
  /// found changes at one moment, and stays so whatever process dies. Who has it open goes on with it, or, in
  /// files that another process renames, is told at his next batch.
  /// @throws no_filter        there is no filter of the old name
  /// @throws name_taken       there is one of the new name, and it was not to be replaced
  /// @throws parameter_error  one of them has a link, or is being rebuilt
  /// @throws format_error     one of them is damaged
  /// @throws storage_error    one of them is being written    @throws backend_error
  virtual void rename(std::string_view from, std::string_view to, namesake there) = 0;

  /// Removes the filters that have ended, as far as nobody has them open. Nobody could use them before, but
  /// they took up room.    @throws storage_error
  virtual void remove_ended() {}

  /// Makes a filter forget all it remembers; what it was created with stays. Nobody sees it missing
  /// meanwhile.
  /// @throws no_filter  there is no filter of this name    @throws storage_error  it is being written
  /// @throws format_error     it is damaged
  virtual void reset(std::string_view name) = 0;

  /// From now on who opens `newer` asks `older` first: see linked_filter. The same two may be linked again,
  /// with another end. While it is asked, `older` cannot be dropped.
  /// @param life  for so long, by the clock of the store; nothing: until unlink()
  /// @throws no_filter        one of them is not there
  /// @throws parameter_error  they cannot be linked: either has a link already, the older alone has a window,
  ///                          the newer is another program's; or this store has no links
  /// @throws format_error     one of them is damaged    @throws storage_error, backend_error
  virtual void link(std::string_view older, std::string_view newer,
                    std::optional<std::chrono::milliseconds> life);

  /// Who has `newer` open goes on asking the older one until he opens it again.
  /// @throws no_filter        it is not there
  /// @throws parameter_error  it is linked to none    @throws storage_error, backend_error
  virtual void unlink(std::string_view newer);

  /// stored_filter::end_job, also where what is kept of the job is damaged and holds up the filter.
  /// @throws  as open, and stored_filter::end_job
  virtual void end_job(std::string_view name, std::string_view job);

  /// What could make filters of this store forget or refuse keys, a sentence each, for people to read.
  /// @throws backend_error  a server does not answer
  [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }

  /// The same for filters with jobs: also what a crash could make this store forget though it had answered
  /// for it, so that a job would lose events or count them too low.
  /// @throws backend_error  a server does not answer
  [[nodiscard]] virtual std::vector<std::string> job_warnings() const { return {}; }

  /// Lets `p` decide for how long calls of this store and its filters are made again while it is away, from
  /// the next one on. Nothing changes where nobody can be away.    @param p  null: the store's own limit
  /// again
  virtual void wait_with(std::shared_ptr<patience> /*p*/) {}

  /// Takes the store for a server, if only one can serve it at a time; it is given back, also by a process
  /// that is killed, when what is returned ends. Nobody else is kept away from any filter.
  /// @return null: any number of servers can share it
  /// @throws storage_error  another server has it; says where and which
  [[nodiscard]] virtual std::shared_ptr<void> occupy() { return nullptr; }

  /// Whether a batch mostly waits for somebody else, so that more threads than processors are worth while.
  [[nodiscard]] virtual bool is_remote() const noexcept { return false; }

  /// Bytes that filters of this store can take up in all, as far as it can know: the memory of this machine,
  /// what is free of the disk. A filter whose first layer exceeds it would never be filled.
  [[nodiscard]] virtual std::optional<std::uint64_t> room_bytes() const { return {}; }

  /// The longest segment that this store can keep, whatever its room; nothing: any.
  [[nodiscard]] virtual std::optional<std::uint64_t> longest_segment_bytes() const { return {}; }

  /// A filter under construction from segments made elsewhere. Becomes visible, whole, at commit(); dropped
  /// without a trace when destroyed before.
  class restore {
   public:
    virtual ~restore() = default;
    /// The place for the bits of the next segment, zeroed, to be filled by the caller.
    virtual std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) = 0;
    /// Counts that lag behind their bits (a copy taken beside a writer) are raised to an estimate from them.
    virtual void commit() = 0;
  };
  /// @throws name_taken  a filter of this name exists    @throws storage_error
  virtual std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) = 0;

  /// A filter that is made anew while the one of its name is in use, to hold other keys, more, or at another
  /// rate.
  ///
  /// On servers the new one takes the old one's place at once, and asks it first until commit(): who adds
  /// keys to the filter adds them to the new one, and who has it open goes on with that. So keys are `seen`
  /// as soon as they are given, and nobody is told `fresh` of one that the old one has. After commit() the
  /// new one holds what it was given and what was added since begin_rebuild(). Destroyed before, it leaves a
  /// filter that knows what both have. With a base all that begins with the first target() or commit(),
  /// behind the last merge(): what is added before, and is not in the base, must be given, too.
  ///
  /// In files nobody else adds meanwhile, and the new one takes its place at commit(), by one step.
  ///
  /// Threads: one at a time; target() any number.
  class rebuild {
   public:
    virtual ~rebuild() = default;
    /// The new one, to be given keys.
    [[nodiscard]] virtual std::shared_ptr<stored_filter> target() = 0;
    /// Adds bits to a segment of the base.
    virtual void merge(const segment_id& id, std::span<const std::byte> bits) = 0;
    /// @throws storage_error  the filter was dropped, emptied or rebuilt by somebody else meanwhile
    /// @throws format_error, backend_error
    virtual void commit() = 0;
  };
  /// @param s     what the new one is to be; its hash, seed and window must be the old one's
  /// @param base  segments that it has from the beginning, to be filled by merge(): those of a copy, if any
  /// @throws parameter_error  this store cannot do that, there is no such filter, or s does not fit it
  virtual std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                                 std::span<const partition_state> base);
};

/// What every store says in the same words.
[[nodiscard]] no_filter no_such_filter(std::string_view name);
[[nodiscard]] name_taken filter_exists(std::string_view name);
[[nodiscard]] filter_ended filter_has_ended(std::string_view name);
[[nodiscard]] parameter_error no_such_job(std::string_view filter, std::string_view job);
/// @param what  that cannot be done with a filter as long as it has jobs, as in "be reset"
/// @throws parameter_error  it has some
void require_no_jobs(std::string_view filter, std::span<const std::string> jobs, std::string_view what);
/// Keys are hashed once, by whoever has the filter open, for the old one and the new.
/// @throws parameter_error  the one that is to replace it has another seed or window
void require_rebuildable(const spec& old, const spec& next);
/// @throws parameter_error  a filter could not have the name either
void validate_job_name(std::string_view job);

/// Puts a restored layer into its place in a partition's state, whatever the order of arrival.
/// @throws format_error  a layer of this slice arrives twice, or before the ones below it
void restore_layer(partition_state& state, const segment_id& id, const layer_state& layer);

/// When a file store's writes reach the disk: doc/files.md, "Durability".
enum class sync_policy : std::uint8_t {
  always,    ///< before a batch is acknowledged; a power loss loses nothing
  interval,  ///< about once a second; a power loss loses that much, more if a sync takes longer
  never,     ///< when the kernel likes, some 30 seconds; a crash of the process alone still loses nothing
};

}  // namespace everseen
