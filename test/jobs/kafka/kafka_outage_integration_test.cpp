// Kafka as a source whose brokers cannot be reached.

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/jobs/kafka/kafka_topics.hpp"
#include "test/support/kafka/kafka_cluster.hpp"

namespace everseen::test {
namespace {

using ::testing::HasSubstr;

void reads_nothing_for_a_second(source& from) {
  source_batch batch;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(from.next(batch, 50ms), source::state::nothing_yet);
}

struct KafkaOutage : OwnTopics {
  void create() override { kafka().create_topic(clicks(), 1); }

  static std::unique_ptr<kafka_source> reading(std::string_view rest) {
    auto made = std::make_unique<kafka_source>(parse_kafka_url(clicks_behind_gate(rest)), "job");
    made->begin(nothing_reached);
    return made;
  }
};

TEST_F(KafkaOutage, OfAllBrokersIsRetried) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  const auto from = reading("&reconnect.backoff.max.ms=200");
  EXPECT_EQ(take(*from, 100, true).size(), 100U);
  gate().cut();
  reads_nothing_for_a_second(*from);
  gate().mend();
  kafka().produce(clicks(), 0, numbered("b", 100));
  const auto taken = take(*from, 100);
  ASSERT_EQ(taken.size(), 100U);
  EXPECT_EQ(taken.front().bytes, "b0");
}

TEST_F(KafkaOutage, LongerThanTheTimeLimitIsReported) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  const auto from = reading("&retry_for=5s");
  EXPECT_EQ(take(*from, 100, true).size(), 100U);
  gate().cut();
  EXPECT_THAT(failure_of<backend_error>(*from), HasSubstr("no broker answers"));
}

TEST_F(KafkaOutage, IsReportedThoughMessagesWereStillQueued) {
  kafka().produce(clicks(), 0, numbered("a", 20'000));
  const auto from = reading("&retry_for=5s");
  EXPECT_GT(take(*from, 1).size(), 0U);
  gate().cut();
  for (int i = 0; i < 20; ++i) {
    from->keep_alive();  // learns of the outage
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_THAT(failure_of<backend_error>(*from), HasSubstr("no broker answers"));
}

// librdkafka does not report by itself that all brokers are unavailable then.
TEST(KafkaOutageOfMock, WhileTheGroupHasNoCoordinatorIsReported) {
  using request = kafka_cluster::request;
  kafka_cluster kafka;
  kafka.create_topic("clicks", 1);
  kafka.produce("clicks", 0, numbered("a", 100));
  kafka_source from(parse_kafka_url(kafka.url("clicks", quick("&retry_for=5s"))), "job");
  from.begin(nothing_reached);
  EXPECT_EQ(take(from, 100).size(), 100U);
  constexpr int not_coordinator = 16, coordinator_not_available = 15;
  kafka.fail_next(request::find_coordinator, std::vector<int>(1'000, coordinator_not_available));
  kafka.fail_next(request::offset_commit, {not_coordinator});
  kafka.produce("clicks", 0, numbered("b", 100));
  EXPECT_EQ(take(from, 100, true).size(), 100U);
  reads_nothing_for_a_second(from);
  kafka.set_down();
  EXPECT_THAT(failure_of<backend_error>(from), HasSubstr("no broker answers"));
}

TEST(KafkaOutageOfMock, WhileTheStartOfALaneIsCommittedIsRetried) {
  constexpr int rebalance_in_progress = 27;
  kafka_cluster kafka;
  kafka.create_topic("clicks", 1);
  kafka.produce("clicks", 0, numbered("a", 100));
  kafka.fail_next(kafka_cluster::request::offset_commit, {rebalance_in_progress, rebalance_in_progress});
  kafka_source from(parse_kafka_url(kafka.url("clicks", quick("&start=latest"))), "job");
  from.begin(nothing_reached);
  wait_until(
      [&] {
        source_batch batch;
        EXPECT_EQ(from.next(batch, 50ms), source::state::nothing_yet);
        return !kafka.committed("g", "clicks").empty();
      },
      "the start is committed");
  kafka.produce("clicks", 0, numbered("b", 100));
  EXPECT_EQ(values(take(from, 100)), values(numbered("b", 100)));
}

TEST(KafkaOutageOfMock, OfOneBrokerOfSeveralEndsNothing) {
  kafka_cluster three(3);
  three.create_topic("clicks", 3);
  for (std::int32_t p = 0; p < 3; ++p) three.produce("clicks", p, numbered("a", 100));
  kafka_source from(parse_kafka_url(three.url("clicks", quick("&retry_for=3s"))), "job");
  from.begin(nothing_reached);
  EXPECT_EQ(take(from, 300, true).size(), 300U);
  three.set_down(2);
  EXPECT_EQ(failure_of<backend_error>(from, 5s), "nothing");
}

// Brokers learn of topics and partitions one after the other.
TEST(KafkaOutageOfMock, BrokerThatDoesNotKnowTheTopicForAMomentEndsNothing) {
  constexpr int no_such_topic = 3;
  kafka_cluster kafka;
  kafka.create_topic("clicks", 1);
  kafka.produce("clicks", 0, numbered("a", 100));
  kafka_source from(parse_kafka_url(kafka.url("clicks", quick("&topic.metadata.refresh.interval.ms=100"))),
                    "job");
  from.begin(nothing_reached);
  EXPECT_EQ(take(from, 100, true).size(), 100U);
  kafka.set_topic_error("clicks", no_such_topic);
  const auto back = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(2s);
    kafka.set_topic_error("clicks", 0);
  });
  EXPECT_EQ(failure_of<error>(from, 4s), "nothing");
  kafka.produce("clicks", 0, numbered("b", 100));
  // The partition may be read anew from the last commit.
  std::string last;
  wait_until(
      [&] {
        if (const auto taken = values(take(from, 1)); !taken.empty()) last = taken.back();
        return last == "b99";
      },
      "the events after the moment are read");
}

}  // namespace
}  // namespace everseen::test
