#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen {

/// What a store knows about a filter besides its spec and its keys.
struct filter_facts {
  std::optional<event_time> expires_at{};  ///< by the clock of the store; nothing: never
  /// Stays the same while the name leads to the same filter; a rebuild does not change it. Empty in memory
  /// and in files, whose filters nobody else renames or replaces while they are open for writing.
  std::string identity{};
};

/// Questions about whole filters of a store, and operations on them. Filters are given by name, whether or
/// not this process has them open. Threads: any number may call any function.
class filter_admin {
 public:
  virtual ~filter_admin() = default;

  /// @throws no_filter  no filter has this name; filter_expired: it has expired
  /// @throws format_error, storage_error, backend_error
  [[nodiscard]] virtual filter_facts facts(std::string_view name) const = 0;

  /// Sets the time at which a filter expires, whether it is in use or not; nothing: never. It expires as a
  /// whole, for all clients.
  /// @throws no_filter        no filter has this name; filter_expired: it has expired
  /// @throws parameter_error  it belongs to another program
  /// @throws storage_error    another process is writing to it
  /// @throws backend_error    the outcome is unknown
  virtual void expire_at(std::string_view name, std::optional<event_time> when) = 0;

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
  virtual void rename(std::string_view from, std::string_view new_name, namesake there) = 0;

  /// Removes all keys of a filter; its spec stays. It never appears to be missing meanwhile.
  /// @throws no_filter        no filter has this name    @throws storage_error  it has a writer
  /// @throws format_error     it is damaged
  virtual void reset(std::string_view name) = 0;

  /// Removes expired filters that are not open. They were already unusable, but occupied space.
  /// @throws storage_error
  virtual void remove_expired() = 0;

  /// The names of the jobs of a filter, ascending.    @throws  as facts
  [[nodiscard]] virtual std::vector<std::string> jobs(std::string_view name) const = 0;

  /// Removes all data of a job, including its counters and data that is damaged; the keys that it added stay.
  /// Clients that still work on it get an error on their next settlement. If this fails halfway, the job has
  /// ended anyway: call again to free the rest.
  /// @throws parameter_error  there is no such job    @throws  as facts
  virtual void end_job(std::string_view name, std::string_view job) = 0;

  /// Makes clients that open `newer` from now on ask `older` first: see linked_filter. The same two filters
  /// may be linked again with another end. While it is asked, `older` cannot be dropped.
  /// @param life  duration by the clock of the store; nothing: until unlink()
  /// @throws no_filter        one of them does not exist
  /// @throws parameter_error  they cannot be linked: either already has another link, only the older has a
  ///   window, or the newer belongs to another program
  /// @throws format_error     one of them is damaged    @throws storage_error, backend_error
  virtual void link(std::string_view older, std::string_view newer,
                    std::optional<std::chrono::milliseconds> life) = 0;

  /// Removes a link. Clients that have `newer` open continue to ask the older filter until they reopen it.
  /// @throws no_filter        it does not exist
  /// @throws parameter_error  it has no link    @throws storage_error, backend_error
  virtual void unlink(std::string_view newer) = 0;

  /// A filter under construction from existing segments. commit() makes it visible as a whole. If this is
  /// destroyed before commit(), nothing is left behind.
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
  /// clients, including those that have the filter open, then add keys to the new one. So a key is `seen` as
  /// soon as the rebuild has received it, and no client gets `fresh` for a key of the old filter. After
  /// commit() the new filter has the keys that the rebuild received and those added since begin_rebuild(). If
  /// the rebuild is destroyed before commit(), the remaining filter answers for the keys of both. With a
  /// base, all this begins with the first target() or commit(), after the last merge(). Pass keys that were
  /// added before that and are not in the base to the rebuild as well. A base may be empty, with a state
  /// without slices for each partition: then nothing changes before target().
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
                                                 std::span<const partition_state> base) = 0;
};

/// Errors shared by all stores.
[[nodiscard]] no_filter no_such_filter(std::string_view name);
[[nodiscard]] name_taken filter_exists(std::string_view name);
[[nodiscard]] filter_expired filter_has_expired(std::string_view name);
[[nodiscard]] parameter_error no_such_job(std::string_view filter, std::string_view job);
/// @param subject  an operation that is impossible while a filter has jobs, for example "be reset"
/// @throws parameter_error  the filter has jobs
void require_no_jobs(std::string_view filter, std::span<const std::string> jobs, std::string_view subject);
/// Clients hash keys once for the old filter and the new one.
/// @throws parameter_error  the new one has another hash, seed or window
void require_rebuildable(const spec& old, const spec& next);
/// @throws parameter_error  the name is not valid for a filter either
void validate_job_name(std::string_view job);

/// Inserts a restored layer into a partition's state. Slices may arrive in any order, layers of a slice only
/// in ascending order.
/// @throws format_error  a layer arrives twice, or before the layers below it
void restore_layer(partition_state& state, const segment_id& id, const layer_state& layer);

}  // namespace everseen
