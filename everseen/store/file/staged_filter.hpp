#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/file/manifest_file.hpp"

namespace everseen {

/// Held briefly to create, remove, exchange or link filters of a store.
/// @throws storage_error
[[nodiscard]] lock_file lock_store(const std::filesystem::path& store_directory);

/// Removes what processes that crashed while they created, replaced or removed a filter left in a store. Does
/// nothing if the store is locked, or if it fails: the next call will do.
void remove_left_behind(const std::filesystem::path& store_directory) noexcept;

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

}  // namespace everseen
