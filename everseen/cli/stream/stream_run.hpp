#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/long_run/outage_watch.hpp"
#include "everseen/cli/stream/stream_arguments.hpp"
#include "everseen/cli/stream/stream_ends.hpp"
#include "everseen/cli/stream/stream_metrics.hpp"
#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/progress.hpp"
#include "everseen/jobs/job.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

/// A file that repeats, late or bad events are appended to.
class side_output {
 public:
  /// @throws storage_error
  explicit side_output(const std::optional<std::string>& path);
  [[nodiscard]] output* get() noexcept { return out_ ? &*out_ : nullptr; }

 private:
  descriptor file_;
  std::optional<output> out_;
};

/// One run of everseen stream. Its members are declared in the order in which they are opened, so that
/// errors are found before anything is created.    Threads: one.
class stream_run {
 public:
  /// @param given  validated; outlives this
  /// @throws parameter_error, storage_error
  stream_run(const stream_arguments& given, stream_source from, event_shape events);

  /// Runs until the source ends or a signal arrives.
  /// @throws stopped  a signal arrived    @throws  as job::run, and as opening its parts
  void operator()(printer& out);

 private:
  [[nodiscard]] filter open_filter(store& place) const;
  void run_on(store& place, printer& out);
  void discard_if_unused(store& place) const noexcept;
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(const filter& f) const;
  [[nodiscard]] job_options options_for(const filter& f) const;
  void must_lose_nothing(const store& place, const ledger& ledger) const;
  void run(store& place, const job_parts& parts, job_options options, const std::string& access_path);
  void tell(const job_result& result, std::chrono::duration<double> lasted, progress_line* progress) const;

  const stream_arguments& given_;
  stream_source from_;
  event_shape events_;
  std::optional<stats_file> stats_;
  std::optional<stream_metrics> metrics_;
  side_output seen_to_, late_to_, bad_to_;
};

/// What is printed about a job when it ends.

/// One sentence, as in "10,000 events: 9,512 fresh, 488 seen".
[[nodiscard]] std::string job_summary(const job_result& result);

/// A warning that events lack fields which the job counts by, and how to start over if that was a mistake.
[[nodiscard]] std::string absence_warning(const job_result& result, const std::string& filter,
                                          const std::string& job);

/// The counts of one run as JSON, with a newline.
[[nodiscard]] std::string job_stats(const job_result& result, std::chrono::duration<double> lasted);

}  // namespace everseen::cli
