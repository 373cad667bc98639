#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/file/file_links.hpp"
#include "everseen/store/port/retry_policy.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

class file_writer;

/// Filters in a directory of this machine, mapped into memory: `file:PATH`.
///
/// Use it if filters must outlive the process, or if several processes read them. An add stores into the page
/// cache, in 4 KiB pages, and the disk follows by the sync_policy. Small filters reach nearly the speed of
/// memory; large ones are clearly slower. For crashes, power losses and full disks see doc/files.md,
/// "Durability" and "Damage".
///
/// One writer per filter at a time, and any number of readers, in any processes. The file system must support
/// flock, mmap and atomic rename: a local one, not NFS.
class file_store : public store {
 public:
  /// Touches no file: a missing directory is an empty store until a filter is created in it.
  /// @param on   tests pass a disk that fails
  /// @param clock  the clock by which links end and filters expire
  explicit file_store(std::filesystem::path directory, sync_policy policy = sync_policy::interval,
                      disk& on = disk::real(), time_source clock = wall_clock);

  [[nodiscard]] store_traits traits() const override;
  [[nodiscard]] std::vector<std::string> warnings(concern about) const override;
  /// The expiry time is stored with the filter, so it takes effect even if no process is running then.
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                        std::optional<std::chrono::milliseconds> life = {}) override;
  /// @throws storage_error, format_error  also: the filter is linked to another one, which cannot be opened
  /// @throws  as store
  std::shared_ptr<stored_filter> open(std::string_view name, access mode) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;

  [[nodiscard]] filter_facts facts(std::string_view name) const override;
  /// Through the writer that this object has open, if there is one. While another thread opens or closes that
  /// writer, it is an error that names this process; calling again is safe.
  void expire_at(std::string_view name, std::optional<event_time> when) override;
  [[nodiscard]] std::vector<std::string> jobs(std::string_view name) const override;
  /// Likewise. Also ends a job with a damaged journal. Keys that are only in the journal are lost.
  void end_job(std::string_view name, std::string_view job) override;
  /// The newer filter may have no writer, as that could begin a job; see file_links.
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  void drop(std::string_view name) override;
  /// Neither filter may have a writer.
  void rename(std::string_view from, std::string_view new_name, namesake there) override;
  void remove_expired() override;
  /// How long to wait for another writer of a filter. The limit of the store itself is zero.
  std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> p) override;
  /// Replaces the manifest by an empty one with a new filter id, which readers follow.
  void reset(std::string_view name) override;
  /// No process can add keys meanwhile. Readers must reopen the filter afterwards.
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  /// What has a name.
  enum class occupant : std::uint8_t {
    none,
    replaced,  ///< a filter that a rename replaced and did not remove
    expired,
    live,
  };
  /// A name under the writer's lock. What was found stays true while the lock is held.
  struct held {
    occupant found;
    std::optional<lock_file> lock;  ///< nothing: nothing has the name, so there is nothing to lock
  };

  /// Waits for the writer's lock of a name, and only then looks what has the name: a wait may last for hours.
  /// All that is done to a filter follows from what was found under the lock.
  /// @param accept  throws if the caller has no use for what has the name; also called before a wait, so that
  /// none is
  ///                in vain
  [[nodiscard]] held hold(std::string_view name, const std::function<void(occupant)>& accept) const;
  /// @return the lock of a filter that exists    @throws  as require
  [[nodiscard]] lock_file lock_filter(std::string_view name) const;
  /// Removes what has a name and no longer is a filter.
  /// @return the lock of the filter that has the name and may be replaced; nothing: the name is free
  /// @throws name_taken    @throws format_error  its own name is lost
  [[nodiscard]] std::optional<lock_file> make_way_for(std::string_view name, namesake there) const;
  /// @throws no_filter; filter_expired    @throws format_error  its name is lost
  void require(std::string_view name) const;
  /// @throws no_filter; filter_expired
  static void require_live(std::string_view name, occupant found);
  [[nodiscard]] occupant found_in(const std::filesystem::path& directory) const;
  /// None also if only another user may look inside.
  [[nodiscard]] occupant visible_in(const std::filesystem::path& directory) const;
  [[nodiscard]] lock_file wait_for_lock(std::string_view name) const;
  /// Nothing if another writer has it.
  [[nodiscard]] std::optional<lock_file> try_to_lock(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<retry_policy> policy_for_waiting() const;

  [[nodiscard]] std::shared_ptr<stored_filter> read(std::string_view name) const;
  /// @param lock  the writer's lock
  [[nodiscard]] std::shared_ptr<file_writer> write(std::string_view name, lock_file lock) const;
  /// The writer that this object has open, or a new one.    @throws  as open
  [[nodiscard]] std::shared_ptr<file_writer> writer_of(std::string_view name) const;
  [[nodiscard]] std::filesystem::path directory_of(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> jobs_of(std::string_view name) const;
  [[nodiscard]] bool is_sound(const std::filesystem::path& directory, std::string_view job,
                              const image::manifest& m) const;

  const std::filesystem::path directory_;
  const sync_policy policy_;
  disk& disk_;
  const time_source clock_;
  const file_links links_;
  std::atomic<bool> has_tidied_ = false;  // the first writer has removed what crashed processes left
  std::shared_ptr<retry_policy> waiting_{};
  mutable std::mutex removing_{};  // held while an expired filter is locked for removal; guards waiting_
  mutable std::mutex writing_{};   // guards what follows
  mutable std::map<std::string, std::weak_ptr<file_writer>, std::less<>> writers_{};
};

}  // namespace everseen
