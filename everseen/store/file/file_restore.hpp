#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/file/segment_file.hpp"
#include "everseen/store/file/staged_filter.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

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

}  // namespace everseen
