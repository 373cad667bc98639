#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

/// The crash matrix: a job that is killed, with each kind of source and sink, and what must be right after it
/// has been started again.
///
/// A pair of a source and a sink is data. To add one, write a `matrix_source` or a `matrix_sink` and put it
/// into the lists of the tests; runs, faults, seeds and the comparison with the exact answer come from here.
namespace everseen::test {

/// Click events with repeats, and what they amount to by themselves: no code of everseen computes it.
struct click_stream {
  std::vector<std::string> lines;
  std::map<std::string, std::string> first_lines;          ///< by id
  std::map<std::string, std::int64_t> by_minute_and_site;  ///< as `2025-01-01T00:10:00Z,news`
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] click_stream make_clicks(std::uint64_t seed, std::size_t count);

/// One run of the matrix: its directory, its server, its events.
struct matrix_world {
  scratch_directory directory;
  std::string program;  ///< everseen
  redis_server& store;  ///< append-only file, synced with each command
  click_stream clicks;
  std::string job;  ///< of its own on that server

  [[nodiscard]] std::string path(const std::string& name) const { return (directory.path() / name).string(); }
};

/// Where the events of a run come from.
struct matrix_source {
  std::string name;
  /// Puts the events where the job finds them; called once, before the first attempt.
  std::function<void(matrix_world&)> prepare;
  /// The words of the command line that name it.
  std::function<std::vector<std::string>(const matrix_world&)> words;
  bool on_standard_input = false;
};

/// Where its fresh events go.
struct matrix_sink {
  std::string name;
  std::function<std::vector<std::string>(const matrix_world&)> words;
  /// What is wrong with what came out; empty if nothing.
  /// @param printed  standard output of all attempts, one behind the other
  std::function<std::string(const matrix_world&, const std::string& printed)> fault;
};

[[nodiscard]] matrix_source from_file();
[[nodiscard]] matrix_source from_standard_input();
[[nodiscard]] matrix_sink to_counts();
[[nodiscard]] matrix_sink to_file();
[[nodiscard]] matrix_sink to_standard_output();

/// Each fresh event at least once (`repeats` true) or once, as the line that came first.
[[nodiscard]] std::string fault_of_lines(const click_stream& clicks, const std::string& text,
                                         bool may_repeat);
/// Counters beside the filter, compared with the exact ones.
[[nodiscard]] std::string fault_of_counts(const matrix_world& world);

/// How one attempt ends before its time.
struct disaster {
  std::string die_at{};                                         ///< a fault point and a number, as in put:2
  std::optional<std::chrono::milliseconds> kill_after{};        ///< kill -9 of the job
  std::optional<std::chrono::milliseconds> kill_store_after{};  ///< kill -9 of the server, which comes back
  std::optional<std::size_t>
      cut_after{};           ///< the connection to the server breaks after so many bytes of answers
  bool two_workers = false;  ///< a second job beside it, by mistake
};

/// What all runs use.
struct matrix_stage {
  std::string program;
  redis_server& store;
};

struct matrix_outcome {
  std::string fault{};  ///< what is wrong in the end; empty if nothing
  int deaths = 0;       ///< attempts that did not come to their end
};
/// Runs the job under these disasters, one an attempt, and then until it ends by itself.
[[nodiscard]] matrix_outcome run_matrix(const matrix_stage& on, const matrix_source& from,
                                        const matrix_sink& to, const std::vector<disaster>& disasters,
                                        std::uint64_t seed);

/// Every fault point, in the order of a batch.
[[nodiscard]] const std::vector<std::string>& fault_points();

}  // namespace everseen::test
