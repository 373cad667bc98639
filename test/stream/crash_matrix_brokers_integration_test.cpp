// The crash matrix with Redis streams and with Kafka, of which each run takes seconds: the mock's groups wait
// for members as real ones do.

#include <gtest/gtest.h>

#include "test/support/crash_matrix_brokers.hpp"

namespace everseen::test {
namespace {

using std::chrono::milliseconds;

struct BrokerMatrix : testing::Test {
  redis_server store{redis_server::options{.config = {"--appendonly", "yes", "--appendfsync", "always"}}};

  void survives(const matrix_source& from, const matrix_sink& to, const std::vector<disaster>& disasters,
                std::uint64_t seed) {
    EXPECT_EQ(run_matrix({EVERSEEN_PROGRAM, store}, from, to, disasters, seed).fault, "") << "seed " << seed;
  }
  /// Everything that can happen to a job and its store, at every step.
  void survives_all(const matrix_source& from, const matrix_sink& to, std::uint64_t seed) {
    survives(from, to, {}, seed);
    for (const std::string& point : fault_points()) {
      SCOPED_TRACE(point);
      survives(from, to, {{.die_at = point + ":1"}, {.die_at = point + ":2"}}, ++seed);
    }
    survives(from, to, {{.kill_store_after = milliseconds(30)}, {.die_at = "put:2"}}, ++seed);
    survives(from, to, {{.two_workers = true}, {.die_at = "claimed:1", .two_workers = true}}, ++seed);
  }
};

TEST_F(BrokerMatrix, RedisStreamToCounts) {
  survives_all(from_redis_stream(), to_counts(), 7000);
}
TEST_F(BrokerMatrix, RedisStreamToRedisStream) {
  survives_all(from_redis_stream(), to_redis_stream(), 7100);
}
TEST_F(BrokerMatrix, RedisStreamToFile) {
  survives(from_redis_stream(), to_file(), {{.die_at = "put:1"}, {.die_at = "committed:2"}}, 7200);
}
TEST_F(BrokerMatrix, RedisStreamToStandardOutput) {
  survives(from_redis_stream(), to_standard_output(), {{.die_at = "put:1"}, {.die_at = "settled:1"}}, 7300);
}
TEST_F(BrokerMatrix, FileToRedisStream) {
  survives_all(from_file(), to_redis_stream(), 7400);
}

struct KafkaMatrix : BrokerMatrix {
  kafka_cluster kafka{};
};

TEST_F(KafkaMatrix, KafkaToCounts) {
  std::uint64_t seed = 7900;
  for (const std::string& point : fault_points()) {
    SCOPED_TRACE(point);
    survives(from_kafka(kafka), to_counts(), {{.die_at = point + ":3"}}, ++seed);
  }
}
TEST_F(KafkaMatrix, KafkaToCountsWhileTheStoreDies) {
  survives(from_kafka(kafka), to_counts(), {{.kill_store_after = milliseconds(4'000)}}, 8000);
}
TEST_F(KafkaMatrix, KafkaToCountsByTwoWorkersOfWhichOneDies) {
  survives(from_kafka(kafka), to_counts(), {{.die_at = "claimed:2", .two_workers = true}}, 8100);
}
TEST_F(KafkaMatrix, KafkaToRedisStream) {
  survives(from_kafka(kafka), to_redis_stream(), {{.die_at = "half_put:1"}, {.die_at = "put:2"}}, 8200);
}
TEST_F(KafkaMatrix, KafkaToFile) {
  survives(from_kafka(kafka), to_file(), {{.die_at = "put:4"}, {.die_at = "committed:2"}}, 8300);
}
TEST_F(KafkaMatrix, KafkaToKafka) {
  survives(from_kafka(kafka), to_kafka(kafka), {{.die_at = "put:4"}, {.die_at = "committed:1"}}, 8400);
}
TEST_F(KafkaMatrix, FileToKafka) {
  survives(from_file(), to_kafka(kafka), {{.die_at = "put:4"}, {.die_at = "settled:2"}}, 8500);
}

}  // namespace
}  // namespace everseen::test
