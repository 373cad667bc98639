#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/image.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/store/file_links.hpp"
#include "everseen/store/lock_file.hpp"
#include "everseen/store/store.hpp"
#include "everseen/store/time_source.hpp"

namespace everseen {

/// Filters in a directory of this machine, mapped into memory: `file:PATH`.
///
/// Prefer it when filters must outlive the process, or are to be asked by several processes. Adding
/// a key stores into the page cache, whose pages have 4 KiB, and the disk follows by the sync_policy: near
/// the speed of memory for small filters, some way behind it for large ones. What a crash, a power loss or a
/// full disk does: doc/files.md, "Durability" and "Damage".
///
/// One writer a filter at a time, any number of readers beside it, in any processes. The directory must be on
/// a file system with flock, mmap and rename in one step: a local one, not NFS.
class file_store : public store {
 public:
  /// Touches nothing: a directory that is not there is an empty store until a filter is made in it.
  /// @param on   where tests put a disk that fails
  /// @param now  ends links, and filters
  explicit file_store(std::filesystem::path directory, sync_policy policy = sync_policy::interval,
                      disk& on = disk::real(), time_source now = wall_clock);

  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) override;
  /// The end is kept with the filter: it counts although no process may be there when it comes.
  std::shared_ptr<stored_filter> create_expiring(std::string_view name, const spec& s,
                                                 std::chrono::milliseconds life) override;
  /// @throws storage_error, format_error  also: the filter is linked to another one, which cannot be opened
  /// @throws  as store
  std::shared_ptr<stored_filter> open(std::string_view name, access how) override;
  /// Whoever has one of the two open; see file_links.
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  /// Also one whose journal is damaged; the keys that it holds and nobody had added are given up with it.
  void end_job(std::string_view name, std::string_view job) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  void drop(std::string_view name) override;
  [[nodiscard]] std::shared_ptr<void> occupy() override;
  /// Nobody may write to either of the two.
  void rename(std::string_view from, std::string_view to, namesake there) override;
  void remove_ended() override;
  [[nodiscard]] std::optional<std::uint64_t> room_bytes() const override;
  [[nodiscard]] std::vector<std::string> job_warnings() const override;
  /// By a manifest without segments and with a filter id of its own, which readers follow.
  void reset(std::string_view name) override;
  /// Nobody else can add keys meanwhile, and readers are told to open the filter again afterwards.
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class restoring;

  [[nodiscard]] std::shared_ptr<stored_filter> open_alone(std::string_view name, access how) const;
  [[nodiscard]] std::filesystem::path directory_of(std::string_view name) const;
  [[nodiscard]] lock_file lock_to_write(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> jobs_of(std::string_view name) const;
  [[nodiscard]] bool is_sound(const std::filesystem::path& directory, std::string_view job,
                              const image::manifest& m) const;
  [[nodiscard]] bool has_ended(std::string_view name) const;
  /// @throws no_filter; filter_ended
  void require(std::string_view name) const;
  /// @throws name_taken  there is a filter of this name, and it has not ended
  void make_way_for(std::string_view name) const;
  std::shared_ptr<stored_filter> make(std::string_view name, const spec& s, std::optional<event_time> end);

  const std::filesystem::path directory_;
  const sync_policy policy_;
  disk& disk_;
  const time_source now_;
  const file_links links_;
  mutable std::mutex removing_{};  // while one that has ended is locked to be removed
};

}  // namespace everseen
