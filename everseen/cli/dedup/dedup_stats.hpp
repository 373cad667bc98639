#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "everseen/cli/long_run/stats_file.hpp"
#include "everseen/dedup/dedup.hpp"
#include "everseen/filter/filter.hpp"

namespace everseen::cli {

/// The counts of a run for people, as in: 10,000 lines: 8,000 kept, 2,000 dropped, 3 of these late; 1.2 M
/// lines/s.
[[nodiscard]] std::string dedup_summary(const dedup_result& result, const dedup_options& options,
                                        std::chrono::duration<double> lasted);

/// The counts of one run of dedup, as JSON in a file.
///
/// The file is opened before the run, which may be long, so that a wrong path fails early.
class dedup_stats {
 public:
  /// @param where  a path, or "-" for standard error    @throws storage_error  the file cannot be opened
  explicit dedup_stats(const std::string& where) : file_(where) {}

  /// Called when the run begins.    @param before  the filter's current state
  void begin(filter_info before);

  /// @param after  nothing: the store is unavailable; values that only the store knows are null
  /// @throws storage_error  the disk is full, ...
  void write(const dedup_result& result, const std::optional<filter_info>& after) const;

 private:
  stats_file file_;
  filter_info before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace everseen::cli
