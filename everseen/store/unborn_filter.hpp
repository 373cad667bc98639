#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "everseen/store/lock_file.hpp"
#include "everseen/store/manifest_file.hpp"

namespace everseen {

/// Held for moments, by who makes, removes, exchanges or links filters of a store.
/// @throws storage_error
[[nodiscard]] lock_file lock_store(const std::filesystem::path& store_directory);

/// A filter's directory while it is being filled, under a name that no filter can have.
///
/// commit() renames it into place, whole and by one step: of many processes that make a filter of the same
/// name exactly one succeeds. Without it the directory goes with this object, or, if the process dies before,
/// with the next unborn_filter of the store.
class unborn_filter {
 public:
  /// @throws storage_error
  /// @param end  when the filter ends; nothing: never
  unborn_filter(disk& on, std::filesystem::path store_directory, std::optional<event_time> end = {});
  ~unborn_filter();
  unborn_filter(const unborn_filter&) = delete;
  unborn_filter& operator=(const unborn_filter&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Makes it the filter of this name, with this manifest. Its segments must be synced.
  /// @return the writer's lock on it, held since before it was visible
  /// @throws parameter_error  a filter of this name exists    @throws storage_error
  lock_file commit(std::string_view name, const image::manifest& m);

  /// Makes it a filter that can be opened, under the name that it has now.
  /// @return the writer's lock on it
  lock_file open(const image::manifest& m);

  /// Changes places with the filter of this name, in one step, takes over its link and its end, and removes
  /// that one.
  /// @param close  ends whatever holds the lock that open() gave
  /// @pre the caller holds the writer's lock on the old one    @throws storage_error
  void take_place_of(std::string_view name, const std::function<void()>& close);

 private:
  void complete(const image::manifest& m);

  disk& disk_;
  std::filesystem::path store_;
  std::optional<event_time> end_;
  std::filesystem::path directory_;  // empty once committed
  std::optional<lock_file> lock_;
};

/// Removes a filter's directory: out of sight by one step, then file by file.
/// @param lock            the writer's lock on it
/// @param require_unused  throws where it must stay; called while nobody can link filters of the store
void remove_filter(disk& on, const std::filesystem::path& store_directory, std::string_view name,
                   lock_file lock, const std::function<void()>& require_unused);

/// Gives a filter's directory the name of another one, which is removed if there is one. Who dies on the way
/// leaves the filter under the old name or the new one, and the new name with one of the two, where the file
/// system can exchange names.
/// @param lock            the writer's lock on the filter
/// @param other           that on the one which has the name; null: there is none
/// @param require_unused  as in remove_filter
/// @throws name_taken     somebody has taken the name meanwhile    @throws storage_error
void move_filter(disk& on, const std::filesystem::path& store_directory, std::string_view from,
                 std::string_view to, const lock_file& lock, const lock_file* other,
                 const std::function<void()>& require_unused);

/// Whether a directory holds a filter, perhaps a damaged one. What is neither is none of everseen's business.
/// @throws storage_error  it cannot be looked into
[[nodiscard]] bool is_filter(const std::filesystem::path& directory);

}  // namespace everseen
