#include <gtest/gtest.h>

#include "test/support/crash_matrix/crash_matrix.hpp"
#include "test/support/places.hpp"

namespace everseen::test {
namespace {

using std::chrono::milliseconds;

/// Every source with every sink, one server for all: each run has its own job of a filter, and its own
/// events.
class CrashMatrix : public testing::TestWithParam<std::pair<matrix_source, matrix_sink>> {
 protected:
  static void SetUpTestSuite() {
    store = std::make_unique<redis_server>(
        redis_server::options{.config = {"--appendonly", "yes", "--appendfsync", "always"}});
  }
  static void TearDownTestSuite() { store.reset(); }

  static matrix_outcome survives(const std::vector<disaster>& disasters, std::uint64_t seed) {
    const auto& [from, sink] = GetParam();
    const matrix_outcome outcome = run_matrix({test::dying_program(), *store}, from, sink, disasters, seed);
    EXPECT_EQ(outcome.fault, "") << "seed " << seed;
    return outcome;
  }

  static inline std::unique_ptr<redis_server> store;
  /// Seeds are unique, as the events of two runs would meet in one filter.
  static inline std::uint64_t next_seed = 1;
};

TEST_P(CrashMatrix, IsExactWithoutADisaster) {
  survives({}, next_seed++);
}

// Promise: from files and standard input each event takes effect as the table says, wherever the job is
// killed (streams, Sources and sinks).
TEST_P(CrashMatrix, IsExactWhereverTheJobIsKilled) {
  std::vector<std::string> points = common_fault_points();
  for (const std::string& own : GetParam().second.own_points) points.push_back(own);
  for (const std::string& point : points) {
    SCOPED_TRACE(point);
    const auto outcome = survives({{.die_at = point + ":1"}, {.die_at = point + ":3"}}, next_seed++);
    // Settlements depend on the clock: there may be fewer than three.
    const bool by_clock =
        point == "committed" || point == "settled" || point == "half_shown" || point == "accounted";
    EXPECT_GE(outcome.deaths, by_clock ? 1 : 2);
  }
}

TEST_P(CrashMatrix, IsExactWhenTheServerIsKilled) {
  const auto outcome = survives(
      {killed_at("claimed:2"), {.kill_store_after = milliseconds(15)}, {.die_at = "put:4"}}, next_seed++);
  EXPECT_GE(outcome.store_deaths, 1);
}

TEST_P(CrashMatrix, IsExactWhenTheNetworkBreaks) {
  const auto outcome = survives(
      {{.die_at = "put:2", .cut_after = 1000}, {.cut_after = 2000}, {.cut_after = 3000}}, next_seed++);
  EXPECT_GE(outcome.cuts, 2);
}

TEST_P(CrashMatrix, IsExactWhenTwoWorkInsteadOfOne) {
  const auto& [from, sink] = GetParam();
  if (sink.name == "file") GTEST_SKIP() << "a file refuses the second job";
  survives(
      {{.second = disaster::beside::the_same}, {.die_at = "claimed:2", .second = disaster::beside::the_same}},
      next_seed++);
}

std::string name_of_ends(const testing::TestParamInfo<CrashMatrix::ParamType>& pair) {
  return pair.param.first.name + "_to_" + pair.param.second.name;
}

INSTANTIATE_TEST_SUITE_P(Pairs, CrashMatrix,
                         testing::Values(std::pair(from_file(), to_counts()),
                                         std::pair(from_file(), to_file()),
                                         std::pair(from_file(), to_standard_output()),
                                         std::pair(from_standard_input(), to_counts()),
                                         std::pair(from_standard_input(), to_file()),
                                         std::pair(from_standard_input(), to_standard_output())),
                         name_of_ends);

}  // namespace
}  // namespace everseen::test
