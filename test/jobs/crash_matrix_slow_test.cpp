// The crash matrix at random, for every pair of a source and a sink. A failure prints the seeds that repeat
// it: EVERSEEN_MATRIX_SEED=N EVERSEEN_MATRIX_RUNS=1. By default, each pair has 6 runs.

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "test/support/crash_matrix/crash_matrix_runs.hpp"
#include "test/support/places.hpp"

namespace everseen::test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class CrashMatrixAtRandom : public testing::TestWithParam<matrix_pair> {
 protected:
  void SetUp() override {
    if (GetParam().has_kafka()) kafka_broker::skip_test_without();
  }
};

// Promise: every pair of a source and a sink holds under random crashes (streams, Sources and sinks).
TEST_P(CrashMatrixAtRandom, IsExactAfterAnyNumberOfDisasters) {
  const std::uint64_t first = number_from("EVERSEEN_MATRIX_SEED", 1000);
  const std::uint64_t count = number_from("EVERSEEN_MATRIX_RUNS", 6);
  std::vector<matrix_run> runs;
  for (std::uint64_t seed = first; seed < first + count; ++seed) runs.push_back(random_run(GetParam(), seed));
  // Pairs without waiting times keep both cores busy by themselves.
  const std::size_t lanes = GetParam().from_name == "kafka" ? 12 : 3;
  const matrix_outcome outcome = run_side_by_side(test::dying_program(), runs, lanes);
  std::cout << GetParam().name() << ": " << count << " runs from seed " << first << ", " << to_string(outcome)
            << '\n';
  EXPECT_EQ(outcome.fault, "");
  if (count >= 20) {  // they do happen
    EXPECT_GE(outcome.deaths, static_cast<int>(count / 5));
    EXPECT_GT(outcome.store_deaths, 0);
  }
}

std::string name_of_pair(const testing::TestParamInfo<matrix_pair>& pair) {
  return pair.param.from_name + "_to_" + pair.param.to_name;
}
INSTANTIATE_TEST_SUITE_P(Pairs, CrashMatrixAtRandom, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace everseen::test
