#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/samples/click_stream.hpp"
#include "test/support/scratch_directory.hpp"

/// The crash matrix: kills a job with each kind of source and sink, restarts it, and checks the result.
///
/// A pair of a source and a sink is data. To add one, write a `matrix_source` or a `matrix_sink` and add it
/// to the lists of the tests; runs, faults, seeds and the comparison with the exact answer are shared.
namespace everseen::test {

/// What disasters do to Kafka; null: it has no part in the runs.
struct matrix_brokers {
  std::function<void()> cut, mend;    ///< the network of this run to the brokers
  std::function<void()> kill, start;  ///< the broker, as kill -9
};

/// The environment of all runs.
struct matrix_stage {
  std::string program;  ///< everseen
  redis_server& store;  ///< append-only file, synced with each command; disasters kill this one
  std::string url{};    ///< of the filter's store, if it is not that server
  click_shape clicks{};
  std::size_t events = 1'500;
  std::string settle_every = "2ms";
  std::vector<std::string> words{};  ///< of every command line, such as --window
  matrix_brokers brokers{};
  bool outlasts_brokers =
      false;            ///< Kafka's sessions and transactions may be longer than a restart of a broker
  int last_worker = 0;  ///< of the last attempt, which ends by itself
};

/// One run of the matrix: its directory, its events.
struct matrix_world {
  scratch_directory directory;
  const matrix_stage& on;
  click_stream clicks;
  std::string job;     ///< unique on that server
  std::string filter;  ///< unique, too: in an old window everything would be late

  [[nodiscard]] std::string path(const std::string& name) const { return (directory.path() / name).string(); }
  [[nodiscard]] std::string store_url() const { return on.url.empty() ? on.store.url() : on.url; }
};

/// The source of a run's events.
struct matrix_source {
  std::string name;
  /// Stores the events where the job finds them; called once, before the first attempt.
  std::function<void(const matrix_world&)> prepare;
  /// The words of the command line that name it.
  /// @param worker  0, or 1 for the second of two workers
  std::function<std::vector<std::string>(const matrix_world&, int worker)> words;
  bool on_standard_input = false;
};

/// The destination of its fresh events.
struct matrix_sink {
  std::string name;
  std::function<std::vector<std::string>(const matrix_world&, int worker)> words;
  /// The fault of the output; empty if there is none.
  /// @param printed  standard output of all attempts, concatenated
  std::function<std::string(const matrix_world&, const std::string& printed)> fault;
  std::vector<std::string> own_points{};  ///< fault points that jobs with other sinks do not reach
  /// A check after every attempt, even if a worker never returns; null: none.
  std::function<std::string(const matrix_world&)> early_fault{};
  /// Called once, before the first attempt; null: nothing is to be done.
  std::function<void(const matrix_world&)> prepare{};
};
/// For the names of tests.
inline void PrintTo(const matrix_source& from, std::ostream* out) {
  *out << from.name;
}
inline void PrintTo(const matrix_sink& sink, std::ostream* out) {
  *out << sink.name;
}

[[nodiscard]] matrix_source from_file();
[[nodiscard]] matrix_source from_standard_input();
[[nodiscard]] matrix_sink to_counts();
[[nodiscard]] matrix_sink to_file();
/// Each worker has a file; together they have each event once.
[[nodiscard]] matrix_sink to_files();
[[nodiscard]] matrix_sink to_standard_output();

/// How one attempt is interrupted.
struct disaster {
  using time = std::optional<std::chrono::milliseconds>;

  std::string die_at{};     ///< a fault point and a number, as in put:2
  time kill_after{};        ///< kill -9 of the job
  time kill_store_after{};  ///< kill -9 of the server, which restarts
  std::chrono::milliseconds store_back_after{20};
  std::optional<std::size_t>
      cut_after{};            ///< the connection to the server breaks after this many bytes of answers
  time lose_brokers_after{};  ///< Kafka is unreachable for a while
  std::string stop_at{};      ///< the job is stopped at a fault point, for stop_for
  /// What is lost once it is stopped at stop_at: the server, killed as above; the network to the brokers, for
  /// a while; or the broker, killed, which restarts.
  enum class loss : std::uint8_t { nothing, store, network, broker };
  loss lost_at_stop = loss::nothing;
  time stop_after{};  ///< the job is stopped, for stop_for
  std::chrono::milliseconds stop_for{5'000};
  /// When a job stopped at stop_at continues: after stop_for; after the second worker has ended, which has
  /// enough time for that; or never, because it is killed.
  enum class return_of : std::uint8_t { by_time, after_the_second, nobody };
  return_of stopped = return_of::by_time;
  enum class beside : std::uint8_t { nobody, a_worker, the_same };
  beside second = beside::nobody;  ///< another worker of the job, or a duplicate of the same one
  time second_after{};             ///< it begins only then
};

/// The server is killed when the job is at this point, on any machine, and restarts soon.
[[nodiscard]] inline disaster killed_at(std::string point) {
  return {.stop_at = std::move(point),
          .lost_at_stop = disaster::loss::store,
          .stop_for = std::chrono::milliseconds(20)};
}

/// The results of one or several runs.
struct matrix_outcome {
  std::string fault{};  ///< what is wrong at the end; empty if nothing
  int attempts = 0;
  int deaths = 0;              ///< attempts whose job was killed while it worked
  int store_deaths = 0;        ///< times that the server was killed while a job worked
  int cuts = 0;                ///< connections to the server that were cut
  int broker_losses = 0;       ///< times that Kafka's network or broker was lost while a job worked
  int failures = 0;            ///< attempts that ended with an error of their own
  std::string last_failure{};  ///< what the last of these said
  int stops = 0;               ///< times that a job was stopped
  matrix_outcome& operator+=(const matrix_outcome& other);
};
/// Runs the job under these disasters, one an attempt, and then until it ends by itself.
[[nodiscard]] matrix_outcome run_matrix(const matrix_stage& on, const matrix_source& from,
                                        const matrix_sink& sink, const std::vector<disaster>& disasters,
                                        std::uint64_t seed);

/// Every fault point, in the order of a batch.
[[nodiscard]] const std::vector<std::string>& fault_points();
/// Those that every job reaches at least once, whatever its sink.
[[nodiscard]] const std::vector<std::string>& common_fault_points();

}  // namespace everseen::test
