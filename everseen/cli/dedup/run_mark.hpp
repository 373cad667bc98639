#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"

namespace everseen::cli {

/// A file beside the filters that says how many lines of a run are judged and not yet printed.
///
/// Where keys are kept before their lines are printed, a run that is killed loses lines, and cannot say so.
/// The next run on this machine finds its mark, and does. A mark is locked while its run lives, and removed
/// when the run ends in order; it is not synced, so it need not survive a power loss.
///
/// The marks are in $XDG_STATE_HOME/everseen/runs, else in $HOME/.local/state/everseen/runs.
class run_mark {
 public:
  /// A number of lines that is not known.
  static constexpr std::uint64_t several_blocks = std::numeric_limits<std::uint64_t>::max();

  /// One run that did not end in order.
  struct lost_run {
    std::string began;
    std::uint64_t lines = 0;  ///< at most
  };

  /// Marks a run over a filter.
  /// @param filter  identifies it: the store's URL and its name
  /// @throws parameter_error  neither variable is set    @throws storage_error
  explicit run_mark(std::string_view filter);
  ~run_mark();
  run_mark(const run_mark&) = delete;
  run_mark& operator=(const run_mark&) = delete;

  /// The runs over this filter that were killed while lines were judged and not printed. Each is found once.
  [[nodiscard]] const std::vector<lost_run>& found() const noexcept { return found_; }

  /// Sets the number of lines that a crash would lose from now on.    @throws storage_error
  /// Cost: one system call.
  void expect(std::uint64_t lines);

 private:
  void take_others(const std::filesystem::path& directory, std::string_view prefix);
  void create_file(const std::filesystem::path& directory, std::string_view prefix, std::string_view filter);

  std::vector<lost_run> found_;
  std::filesystem::path path_;
  std::optional<lock_file> lock_;
  descriptor file_;
};

}  // namespace everseen::cli
