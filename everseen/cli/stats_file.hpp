#pragma once

#include <string>
#include <string_view>

#include "everseen/store/descriptor.hpp"

namespace everseen::cli {

/// Where the counts of a run go at its end. Opened at its beginning, so that a path that is wrong is heard of
/// before any work is done.
class stats_file {
 public:
  /// @param where  a path, or "-": standard error    @throws storage_error
  explicit stats_file(const std::string& where);

  /// @throws storage_error
  void write(std::string_view text) const;

 private:
  std::string name_ = "standard error";
  descriptor file_;  // none: standard error
};

}  // namespace everseen::cli
