// A job on a cluster of three brokers of Apache Kafka, of which one is killed: each fresh event is in the
// output once, compared with the known answer, and no worker ends.

#include <chrono>
#include <memory>

#include <gmock/gmock.h>

#include "test/cli/stream/kafka_workers.hpp"
#include "test/support/kafka/kafka_broker.hpp"
#include "test/support/kafka/kafka_brokers.hpp"

namespace everseen::test {
namespace {

struct ThreeBrokersOfKafka : testing::Test {
  static void SetUpTestSuite() {
    if (kafka_broker::why_not().empty()) brokers = std::make_unique<kafka_brokers>();
  }
  static void TearDownTestSuite() { brokers.reset(); }
  void SetUp() override { kafka_broker::skip_test_without(); }

  /// The fault after the death of a partition's leader while two workers are busy.
  static std::string fault_after_death_of_leader(const std::string& job_name, const std::string& topic) {
    // No worker may end: brokers on a busy machine need longer to elect than the short times elsewhere.
    const std::chrono::seconds patience(60);
    kafka_workers job(brokers->addresses(), job_name, 6, patience);
    job.produce(1'000);
    for (const std::string worker : {"a", "b"}) job.start(worker, {.silence = patience});
    job.wait_until_settled(500);
    const std::size_t leader = brokers->leader_of(topic, 0);
    job.produce(1'500);
    job.wait_until_settled(1'100);  // in the middle
    brokers->kill(leader);
    job.produce(1'000);
    job.wait_until_all_are_settled();
    brokers->start(leader);
    job.produce(1'000);
    const std::string fault = job.fault_at_the_end();
    EXPECT_EQ(job.restarts(), 0) << job.last_words();
    return fault;
  }

  static inline std::unique_ptr<kafka_brokers> brokers;
};

// Promise: a cluster of brokers loses its coordinator of transactions, of the group, or the leader of a
// partition, and each event takes effect once (streams, Kafka).
TEST_F(ThreeBrokersOfKafka, AreExactWithoutTheCoordinatorOfTransactions) {
  EXPECT_EQ(fault_after_death_of_leader("transactions", "__transaction_state"), "");
}

TEST_F(ThreeBrokersOfKafka, AreExactWithoutTheCoordinatorOfTheGroup) {
  EXPECT_EQ(fault_after_death_of_leader("group", "__consumer_offsets"), "");
}

TEST_F(ThreeBrokersOfKafka, AreExactWithoutTheLeaderOfAPartition) {
  EXPECT_EQ(fault_after_death_of_leader("partition", "clicks-partition"), "");
}

}  // namespace
}  // namespace everseen::test
