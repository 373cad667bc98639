#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "everseen/cli/dedup/dedup_arguments.hpp"
#include "everseen/cli/dedup/dedup_filter.hpp"
#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/dedup/dedup.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/filter/filter.hpp"

namespace everseen::cli {

/// Where `dedup` writes: standard output, a file that appears when all went well, or, with a filter that is
/// kept, such a file that the next run continues if this one ends early.
///
/// The last is exact: the keys of a line are added to the filter only once the line is settled in the file,
/// and the next run adds those that are missing before it appends.
class dedup_output {
 public:
  /// @throws storage_error  a file cannot be written there
  dedup_output(const dedup_arguments& given, printer& out);

  [[nodiscard]] bool is_file() const noexcept { return !lines_ || lines_->is_file(); }
  [[nodiscard]] bool is_pipe() const noexcept { return lines_ && lines_->is_pipe(); }

  /// Opens a file that is continued: the filter, once it is open, excludes other writers. A file that is
  /// appended to, and ends in the middle of a record of a run that was killed, gets the end of that record:
  /// the next one would be joined to it, and lost.
  /// @pre nothing has been added to the filter in this run
  /// @throws storage_error, and as deduplicate
  void open(const dedup_options& options, dedup_filter& seen);

  /// @pre open() was called, or there is no filter that is kept
  [[nodiscard]] output& lines() noexcept { return *lines_; }
  [[nodiscard]] const output& lines() const noexcept { return *lines_; }
  /// Whether nothing is in it yet.
  [[nodiscard]] bool is_new() const noexcept { return !continued_ || continued_->settled_bytes() == 0; }
  [[nodiscard]] bool is_continued() const noexcept { return continued_.has_value(); }

  /// Returns once everything written is on the disk, or was taken by the reader of a pipe.
  ///
  /// After a signal, the reader has some time to take it. A reader that has taken nothing of this run by then
  /// may be a program that waits for the run to end and reads afterwards; the pipe keeps the lines for it.
  /// @throws stopped, storage_error  it was not
  void settle();
  /// Gives a file its name.    @throws storage_error
  void publish();
  /// The run has succeeded, and the next one begins anew. Takes effect when this object is destroyed, which
  /// must be after the filter is.
  void end() noexcept {
    if (continued_) continued_->end();
  }
  /// Says on standard error what a run that ends early leaves to the next one.
  void note_left() const;

  /// @throws stopped  a signal arrived    @throws storage_error  the reader of the output has closed the pipe
  void end_if_asked() const;

 private:
  const dedup_arguments& given_;
  std::optional<new_file> whole_;
  std::optional<continued_file> continued_;
  std::optional<output> lines_;  // empty before open()
};

/// The counts of a run for people, as in: 10,000 lines: 8,000 kept, 2,000 dropped, 3 of these late; 1.2 M
/// lines/s.
[[nodiscard]] std::string dedup_summary(const dedup_result& result, std::chrono::duration<double> lasted);

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
