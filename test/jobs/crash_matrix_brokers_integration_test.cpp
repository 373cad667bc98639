// The crash matrix with Redis streams and with Kafka, several runs in parallel.

#include <gtest/gtest.h>

#include "test/support/crash_matrix/crash_matrix_runs.hpp"
#include "test/support/places.hpp"

namespace everseen::test {
namespace {

using std::chrono::milliseconds;

/// Each run has its own seed: no two share a topic, a stream or a filter.
struct BrokerMatrix : testing::Test {
  std::uint64_t seed = 7000;
  /// The first and second time at each point. Whether there is a third time depends on how batches fall.
  static inline const int certain_deaths = static_cast<int>(common_fault_points().size());

  static matrix_outcome survive(const std::vector<matrix_run>& runs, std::size_t lanes = 8) {
    matrix_outcome outcome = run_side_by_side(test::dying_program(), runs, lanes);
    EXPECT_EQ(outcome.fault, "");
    return outcome;
  }

  /// A crash at every step, early and later, with and without a window.
  std::vector<matrix_run> crashes_at_every_step(const matrix_pair& pair) {
    std::vector<matrix_run> runs;
    for (const std::string& point : fault_points())
      runs.push_back({pair, {{.die_at = point + ":1"}, {.die_at = point + ":3"}}, ++seed, seed % 2 == 0});
    return runs;
  }
  /// Server failures, and two workers that do the work of one.
  std::vector<matrix_run> mishaps(const matrix_pair& pair, milliseconds early) {
    return {{pair, {}, ++seed},
            {pair, {killed_at("put:1")}, ++seed},
            {pair, {{.kill_store_after = early}, {.die_at = "put:2"}}, ++seed},
            {pair, {{.cut_after = 500}, {.die_at = "claimed:1", .cut_after = 1000}}, ++seed}};
  }
  std::vector<matrix_run> duplicate_workers(const matrix_pair& pair) {
    return {{pair, {{.second = disaster::beside::the_same}}, ++seed},
            {pair, {{.die_at = "claimed:1", .second = disaster::beside::the_same}}, ++seed, true}};
  }
};

void append(std::vector<matrix_run>& runs, std::vector<matrix_run> more) {
  for (matrix_run& each : more) runs.push_back(std::move(each));
}

/// From Redis streams, and into them.
class RedisStreamMatrix : public BrokerMatrix,
                          public testing::WithParamInterface<std::pair<std::string, std::string>> {};

// Promise: with Redis streams each event takes effect as the table says, through any crash (streams, Sources
// and sinks).
TEST_P(RedisStreamMatrix, IsExactThroughAnyCrash) {
  const matrix_pair& pair = pair_of(GetParam().first, GetParam().second);
  auto runs = crashes_at_every_step(pair);
  append(runs, mishaps(pair, milliseconds(15)));
  if (pair.to_name != "file") append(runs, duplicate_workers(pair));
  const matrix_outcome outcome = survive(runs);
  EXPECT_GE(outcome.deaths, certain_deaths);
  EXPECT_GE(outcome.store_deaths, 1);
  EXPECT_GE(outcome.cuts, 2);
}

std::string name_of_brokers(const testing::TestParamInfo<RedisStreamMatrix::ParamType>& pair) {
  return pair.param.first + "_to_" + pair.param.second;
}
INSTANTIATE_TEST_SUITE_P(Pairs, RedisStreamMatrix,
                         testing::Values(std::pair("redis_stream", "counts"),
                                         std::pair("redis_stream", "file"),
                                         std::pair("redis_stream", "stdout"),
                                         std::pair("redis_stream", "redis_stream"),
                                         std::pair("file", "redis_stream")),
                         name_of_brokers);

/// Two workers: one stops at a step until the other has done all the work, including the work it had begun;
/// then it continues, or never returns.
struct TakeoverMatrix : BrokerMatrix, testing::WithParamInterface<std::string> {
  std::vector<matrix_run> pauses(const matrix_pair& pair, disaster::return_of stopped) {
    std::vector<matrix_run> runs;
    for (const std::string& point : fault_points())
      for (const std::string time : {":1", ":2"})
        runs.push_back({pair,
                        {{.stop_at = point + time, .stopped = stopped, .second = disaster::beside::a_worker}},
                        ++seed,
                        seed % 2 == 0});
    return runs;
  }
};

// Promise: a worker that stands still at any step loses and doubles nothing, as the table says (streams,
// Several workers).
TEST_P(TakeoverMatrix, IsExactWhereverAWorkerStopsAndContinues) {
  const auto runs = pauses(pair_of("redis_stream", GetParam()), disaster::return_of::after_the_second);
  const matrix_outcome outcome = survive(runs);
  EXPECT_GE(outcome.stops, static_cast<int>(common_fault_points().size()));
  EXPECT_EQ(outcome.failures, 0) << outcome.last_failure;
}

/// Only the worker itself can show what it had settled and was about to show.
// Promise: a worker that stands still at any step loses and doubles nothing, as the table says (streams,
// Several workers).
TEST_P(TakeoverMatrix, IsExactWhereverAWorkerStopsPermanently) {
  auto runs = pauses(pair_of("redis_stream", GetParam()), disaster::return_of::nobody);
  for (matrix_run& each : runs) {
    const std::string& step = each.disasters.front().stop_at;
    each.last_worker = step.starts_with("settled") || step.starts_with("half_shown") ? 0 : 1;
  }
  EXPECT_GE(survive(runs).stops, static_cast<int>(common_fault_points().size()));
}

INSTANTIATE_TEST_SUITE_P(Sinks, TakeoverMatrix, testing::Values("counts", "files", "stdout", "redis_stream"),
                         [](const auto& sink) { return sink.param; });

struct KafkaMatrix : BrokerMatrix {
  void SetUp() override { kafka_broker::skip_test_without(); }

  static disaster lost_at(const std::string& step, disaster::loss lost) {
    return {.stop_at = step, .lost_at_stop = lost, .stop_for = milliseconds(20)};
  }
  std::vector<matrix_run> all_of(const matrix_pair& pair) {
    auto runs = crashes_at_every_step(pair);
    append(runs,
           {{pair, {}, ++seed},
            {pair, {killed_at("put:1")}, ++seed},
            {pair, {killed_at("claimed:2"), {.die_at = "put:2"}}, ++seed},
            {pair, {{.cut_after = 500}, {.die_at = "claimed:1", .cut_after = 1000}}, ++seed},
            {pair, {lost_at("put:2", disaster::loss::network)}, ++seed},
            {pair, {lost_at("committed:1", disaster::loss::network), {.die_at = "put:2"}}, ++seed, true}});
    if (pair.to_name != "file") append(runs, duplicate_workers(pair));
    return runs;
  }
  /// Two workers: one crashes, one joins while the other works, one stops until its group has given it up.
  std::vector<matrix_run> rebalances(const matrix_pair& pair) {
    using enum disaster::beside;
    return {{pair, {{.die_at = "claimed:2", .second = a_worker}}, ++seed},
            {pair, {{.die_at = "put:3", .second = a_worker}}, ++seed},
            {pair, {{.second = a_worker, .second_after = milliseconds(500)}}, ++seed},
            {pair, {{.die_at = "settled:3", .second = a_worker, .second_after = milliseconds(300)}}, ++seed},
            {pair, {{.stop_at = "claimed:2", .second = a_worker}}, ++seed},
            {pair, {{.stop_at = "put:3", .second = a_worker}}, ++seed},
            {pair, {{.stop_at = "half_committed:2", .second = a_worker}}, ++seed},
            {pair, {{.stop_at = "committed:2", .second = a_worker}}, ++seed}};
  }
};

// Promise: Kafka to counts: once (streams, Sources and sinks).
TEST_F(KafkaMatrix, KafkaToCounts) {
  auto runs = all_of(pair_of("kafka", "counts"));
  append(runs, rebalances(pair_of("kafka", "counts")));
  EXPECT_GE(survive(runs).deaths, certain_deaths);
}
// Promise: Kafka to Kafka: once (streams, Sources and sinks).
TEST_F(KafkaMatrix, KafkaToKafka) {
  auto runs = all_of(pair_of("kafka", "kafka"));
  append(runs, rebalances(pair_of("kafka", "kafka")));
  const matrix_outcome outcome = survive(runs);
  EXPECT_GE(outcome.deaths, certain_deaths);
  EXPECT_GE(outcome.stops, 2);
}
// Promise: a broker of Kafka that is killed and restarts loses and doubles nothing, and ends no worker
// (streams, Kafka).
TEST_F(KafkaMatrix, DeathsOfTheBrokerLoseNothingAndEndNoWorker) {
  std::vector<matrix_run> runs;
  const auto add = [&](const std::string& sink, const std::vector<std::string>& steps) {
    for (const std::string& step : steps)
      runs.push_back({pair_of("kafka", sink), {lost_at(step, disaster::loss::broker)}, ++seed});
  };
  add("counts", {"claimed:2", "committed:1"});
  add("kafka", {"put:2", "half_committed:1"});
  add("file", {"put:2"});
  // The worker dies, too, and its successor finds a broker that is only just back.
  disaster both = lost_at("put:1", disaster::loss::broker);
  both.stopped = disaster::return_of::nobody;
  runs.push_back({pair_of("kafka", "kafka"), {both}, ++seed, true});
  for (matrix_run& each : runs) each.outlasts_brokers = true;
  const matrix_outcome outcome = survive(runs, 1);
  EXPECT_EQ(outcome.broker_losses, 6);
  EXPECT_EQ(outcome.failures, 0) << outcome.last_failure;
}
// Promise: a store that is unavailable for longer than a transaction may be open ends no worker (streams,
// Kafka).
TEST_F(KafkaMatrix, StoreOutageLongerThanATransactionTimeoutEndsNoWorker) {
  std::vector<matrix_run> runs;
  for (const std::string step : {"put:3", "claimed:5"})
    runs.push_back({pair_of("kafka", "kafka"),
                    {{.store_back_after = milliseconds(7'000),
                      .stop_at = step,
                      .lost_at_stop = disaster::loss::store,
                      .stop_for = milliseconds(50)}},
                    ++seed,
                    false,
                    "1500ms"});
  const matrix_outcome outcome = survive(runs);
  EXPECT_EQ(outcome.store_deaths, 2);
  EXPECT_EQ(outcome.failures, 0) << outcome.last_failure;
}
// Promise: Kafka to a Redis stream: once (streams, Sources and sinks).
TEST_F(KafkaMatrix, KafkaToRedisStream) {
  EXPECT_GE(survive(all_of(pair_of("kafka", "redis_stream"))).deaths, certain_deaths);
}
// Promise: Kafka to a file: once (streams, Sources and sinks).
TEST_F(KafkaMatrix, KafkaToFile) {
  EXPECT_GE(survive(all_of(pair_of("kafka", "file"))).deaths, certain_deaths);
}
// Promise: from Kafka, the files of two workers together have each event once (streams, Several workers).
TEST_F(KafkaMatrix, KafkaToFilesOfTwoWorkers) {
  EXPECT_GE(survive(rebalances(pair_of("kafka", "files"))).stops, 2);
}
// Promise: Kafka to standard output: at least once (streams, Sources and sinks).
TEST_F(KafkaMatrix, KafkaToStandardOutput) {
  EXPECT_GE(survive(all_of(pair_of("kafka", "stdout"))).deaths, certain_deaths);
}
// Promise: a file to Kafka: at least once (streams, Sources and sinks).
TEST_F(KafkaMatrix, FileToKafka) {
  EXPECT_GE(survive(all_of(pair_of("file", "kafka"))).deaths, certain_deaths);
}

}  // namespace
}  // namespace everseen::test
