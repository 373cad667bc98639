// Hundreds of runs of the crash matrix at random. A failure prints the seed that repeats it:
// EVERSEEN_MATRIX_SEED=N EVERSEEN_MATRIX_RUNS=1.

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "test/support/crash_matrix.hpp"

namespace everseen::test {
namespace {

using std::chrono::milliseconds;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

disaster random_disaster(std::mt19937_64& random) {
  const auto some_time = [&] { return milliseconds(random() % 120); };
  disaster d;
  switch (random() % 5) {
    case 0:
      d.die_at = fault_points()[random() % fault_points().size()] + ":" + std::to_string(1 + random() % 20);
      break;
    case 1:
      d.kill_after = some_time();
      break;
    case 2:
      d.kill_store_after = some_time();
      break;
    case 3:
      d.cut_after = random() % 30'000;
      d.kill_after = some_time();
      break;
    default:
      d.kill_store_after = some_time();
      d.kill_after = some_time();
  }
  return d;
}

TEST(CrashMatrixAtRandom, IsExactAfterAnyNumberOfDisasters) {
  redis_server store(redis_server::options{.config = {"--appendonly", "yes", "--appendfsync", "always"}});
  const std::vector<matrix_source> sources = {from_file(), from_standard_input()};
  const std::vector<matrix_sink> sinks = {to_counts(), to_file(), to_standard_output()};
  const std::uint64_t first = number_from("EVERSEEN_MATRIX_SEED", 1000);
  const std::uint64_t runs = number_from("EVERSEEN_MATRIX_RUNS", 300);
  int deaths = 0;
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    std::mt19937_64 random(seed);
    const matrix_source& from = sources[random() % sources.size()];
    const matrix_sink& to = sinks[random() % sinks.size()];
    std::vector<disaster> disasters(1 + random() % 5);
    for (disaster& d : disasters) d = random_disaster(random);
    const matrix_outcome outcome = run_matrix({EVERSEEN_PROGRAM, store}, from, to, disasters, seed);
    ASSERT_EQ(outcome.fault, "") << "seed " << seed << ", " << from.name << " to " << to.name;
    deaths += outcome.deaths;
  }
  std::cout << runs << " runs from seed " << first << ", in which " << deaths << " jobs were killed\n";
  EXPECT_GT(deaths, 0);
}

}  // namespace
}  // namespace everseen::test
