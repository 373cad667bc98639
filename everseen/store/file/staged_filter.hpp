#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/file/file_segments.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// Held briefly to create, remove, exchange or link filters of a store.
/// @throws storage_error
[[nodiscard]] lock_file lock_store(const std::filesystem::path& store_directory);

/// Makes the names of a store's filters permanent. Call it before a filter is changed that was found by its
/// name: the process that gave it the name may have crashed before it synced the directory.
/// @throws storage_error
void keep_names(disk& on, const std::filesystem::path& store_directory);

/// Removes what processes that crashed while they created, replaced or removed a filter left in a store. Does
/// nothing if the store is locked, or if it fails: the next call will do.
void remove_left_behind(disk& on, const std::filesystem::path& store_directory) noexcept;

/// A filter's directory while it is being filled, under a name that no filter can have.
///
/// commit() renames it into place atomically: if several processes create a filter of the same name, exactly
/// one succeeds. Without commit(), the destructor removes the directory; after a crash, the next
/// staged_filter of the store does, or remove_left_behind().
class staged_filter {
 public:
  /// @throws storage_error
  /// @param end  when the filter expires; nothing: never
  staged_filter(disk& on, std::filesystem::path store_directory, std::optional<event_time> end = {});
  ~staged_filter();
  staged_filter(const staged_filter&) = delete;
  staged_filter& operator=(const staged_filter&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Publishes it as the filter of this name, with this manifest. Its segments must be synced.
  /// @return the writer's lock, held since before the filter was visible
  /// @throws parameter_error  a filter of this name exists    @throws storage_error
  lock_file commit(std::string_view name, const image::manifest& m);

  /// Makes it a filter that can be opened under its current, hidden name.
  /// @return the writer's lock
  lock_file open(const image::manifest& m);

  /// Exchanges it atomically with the filter of this name, takes over its link and its expiry time, and
  /// removes the old filter.
  /// @param close  closes whatever holds the lock that open() returned
  /// @pre the caller holds the writer's lock of the old filter    @throws storage_error
  void take_place_of(std::string_view name, const std::function<void()>& close);

 private:
  void complete(const image::manifest& m);

  disk& disk_;
  std::filesystem::path store_;
  std::optional<event_time> end_;
  std::filesystem::path directory_;  // empty once committed
  std::optional<lock_file> lock_;
};

/// Removes a filter's directory: atomically out of sight, then file by file.
/// @param lock            the writer's lock
/// @param require_unused  throws if the filter must stay; called while no filters of the store can be linked
void remove_filter(disk& on, const std::filesystem::path& filter_directory, lock_file lock,
                   const std::function<void()>& require_unused);

/// Renames a filter's directory, and removes the filter that had the new name. After a crash the filter has
/// the old name or the new one; where the file system can exchange names, one of the two filters always has
/// the new name.
/// @param lock            the writer's lock of the filter
/// @param other           the writer's lock of the filter that has the new name; null: there is none
/// @param require_unused  as in remove_filter
/// @throws name_taken     the name was taken meanwhile    @throws storage_error
void move_filter(disk& on, const std::filesystem::path& store_directory, std::string_view from,
                 std::string_view new_name, const lock_file& lock, const lock_file* other,
                 const std::function<void()>& require_unused);

/// Whether a directory holds a filter, possibly a damaged one. Other directories are left alone.
/// @throws storage_error  it cannot be read
[[nodiscard]] bool is_filter(const std::filesystem::path& directory);

class file_writer;

/// A filter in files that is built next to the filter of its name and exchanged with it atomically.
///
/// It holds the writer's lock of the old filter, so no keys are added meanwhile. Readers continue until the
/// exchange; then they get an error and must reopen the filter.
class file_rebuild final : public filter_admin::rebuild {
 public:
  /// @param lock  the writer's lock of the old filter    @throws storage_error
  file_rebuild(disk& on, const std::filesystem::path& store_directory, std::string_view name, lock_file lock,
               sync_policy policy, const spec& s, time_source clock);
  ~file_rebuild() override;

  /// @pre it is no longer in use when commit() is called
  [[nodiscard]] std::shared_ptr<stored_filter> target() override;
  /// @throws parameter_error  always: a copy is already a filter, and `import` creates it
  void merge(const segment_id& id, std::span<const std::byte> bits) override;
  void commit() override;

 private:
  std::string name_;
  lock_file lock_;
  staged_filter staged_;
  std::shared_ptr<file_writer> target_;
};

/// A filter made from segments that exist elsewhere. They are written to a staged filter until commit.
class file_restore final : public filter_admin::restore {
 public:
  /// @param store_directory  of the store that gets the filter
  file_restore(disk& on, const std::filesystem::path& store_directory, std::string_view name, const spec& s);

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override;
  void commit() override;

 private:
  disk& disk_;
  std::string name_;
  staged_filter staged_;
  image::manifest manifest_;
  std::vector<partition_state> states_;
  std::vector<std::shared_ptr<segment_file>> files_;
};

// Marks a filter that a rename replaces. For a moment the replaced filter has the old name of the renamed
// one; if the renaming process crashes then, the replaced filter must not be taken for the renamed one. So a
// record in its directory, written beforehand, says under which name it is no longer a filter. Under any
// other name the record has no meaning.

/// @throws storage_error
void mark_replaced(disk& on, const std::filesystem::path& filter_directory, const std::string& when_named);

/// Removes the mark of a rename that did not happen. Call it before the filter is renamed again.
/// @throws storage_error
void unmark_replaced(disk& on, const std::filesystem::path& filter_directory);

/// Whether the directory is a replaced filter that still has to be removed.
/// @throws storage_error    Cost: an open(2).
[[nodiscard]] bool is_replaced(const std::filesystem::path& filter_directory);

}  // namespace everseen
