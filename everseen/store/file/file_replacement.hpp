#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/file/segment_file.hpp"
#include "everseen/store/file/staged_filter.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

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
