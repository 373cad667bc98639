#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "test/support/crash_matrix/crash_matrix_brokers.hpp"
#include "test/support/places.hpp"

/// Many runs of the crash matrix, in parallel: with Kafka each mostly waits for its group.
namespace everseen::test {

/// A server for one run at a time, which can judge, and the way to a broker that all share.
struct matrix_lane {
  redis_server store{redis_server::options{.config = {"--appendonly", "yes", "--appendfsync", "always",
                                                      "--hz", "10", "--loadmodule", redis_module()}}};
  std::optional<kafka_way> kafka{};
};

struct matrix_pair {
  std::string from_name, to_name;
  std::function<matrix_source(matrix_lane&)> from;
  std::function<matrix_sink(matrix_lane&)> to;
  [[nodiscard]] std::string name() const { return from_name + " to " + to_name; }
  [[nodiscard]] bool has_kafka() const { return from_name == "kafka" || to_name == "kafka"; }
};
/// For the names of tests.
inline void PrintTo(const matrix_pair& pair, std::ostream* out) {
  *out << pair.name();
}
/// Every source with every sink.
[[nodiscard]] const std::vector<matrix_pair>& all_pairs();
/// @pre there is such a pair
[[nodiscard]] const matrix_pair& pair_of(const std::string& from, const std::string& target);

struct matrix_run {
  const matrix_pair& pair;
  std::vector<disaster> disasters;
  std::uint64_t seed;
  bool in_window = false;  ///< a filter with a window, and late events
  std::string settle_every = "2ms";
  int last_worker = 0;            ///< as in matrix_stage
  bool outlasts_brokers = false;  ///< as there
};
/// @pre without runs that have Kafka, or kafka_broker::why_not() is empty
/// @return the sum of all outcomes; its fault names the runs, with their seeds
[[nodiscard]] matrix_outcome run_side_by_side(const std::string& program, const std::vector<matrix_run>& runs,
                                              std::size_t lanes = 8);

/// A random disaster for this pair, at a random time.
[[nodiscard]] disaster random_disaster(std::mt19937_64& random, const matrix_pair& pair);
/// A run derived from the seed alone: the number and kind of disasters, and whether it has a window.
[[nodiscard]] matrix_run random_run(const matrix_pair& pair, std::uint64_t seed);

/// As a line for people.
[[nodiscard]] std::string to_string(const matrix_outcome& outcome);

}  // namespace everseen::test
