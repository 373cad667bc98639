#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"
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
  file_rebuild(disk& on, std::filesystem::path store_directory, std::string_view name, lock_file lock,
               sync_policy policy, const spec& s, time_source now);
  ~file_rebuild() override;

  /// @pre it is no longer in use when commit() is called
  [[nodiscard]] std::shared_ptr<stored_filter> target() override;
  /// @throws parameter_error  always: a copy is already a filter, and `import` creates it
  void merge(const segment_id& id, std::span<const std::byte> bits) override;
  void commit() override;

 private:
  disk& disk_;
  std::filesystem::path store_;
  std::string name_;
  lock_file lock_;
  staged_filter staged_;
  std::shared_ptr<file_writer> target_;
};

}  // namespace everseen
