#pragma once

#include <string>
#include <string_view>

#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

/// The file for a run's counts. It is opened at the beginning, so that a wrong path fails before any work is
/// done.
class stats_file {
 public:
  /// @param where  a path, or "-": standard error    @throws storage_error
  explicit stats_file(const std::string& where);

  /// @throws storage_error
  void write(std::string_view text) const;

 private:
  std::string name_ = "standard error";
  descriptor file_;  // empty: standard error
};

}  // namespace everseen::cli
