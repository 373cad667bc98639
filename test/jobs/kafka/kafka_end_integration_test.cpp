// until=end: when a worker has read everything that its topics had, its own partitions and those of others.

#include <algorithm>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/jobs/kafka/kafka_reading.hpp"
#include "test/support/kafka/kafka_broker.hpp"
#include "test/support/kafka/kafka_transaction.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAreArray;

using positions = std::map<std::string, checkpoint, std::less<>>;

/// A worker of a group, one look at a time, so that a test decides what happens first.
class stepped_worker {
 public:
  explicit stepped_worker(const std::string& url, const positions& reached = nothing_reached)
      : from_(parse_kafka_url(url), "job") {
    from_.begin(reached);
  }
  void step() {
    if (ended) return from_.keep_alive();
    source_batch batch;
    const auto state = from_.next(batch, 5ms);
    ended = state == source::state::ended;
    if (state != source::state::records) return;
    for (const source_record& each : batch.records) read.emplace_back(each.bytes);
    reached_.insert_or_assign(batch.lane, from_.reached(batch));
    if (settles)
      settle();
    else
      from_.abandoned(batch);
  }
  /// All that it has read.
  void settle() {
    for (const auto& [lane, place] : reached_) from_.settled(std::span(&place, 1));
  }
  void leave() { from_.finish(); }

  bool settles = true;  ///< immediately
  bool ended = false;
  std::vector<std::string> read{};

 private:
  kafka_source from_;
  positions reached_{};
};

/// Each test has its own topic and group on the broker of all.
struct KafkaEnd : ::testing::Test {
  void SetUp() override {
    kafka_broker::skip_test_without();
    topic = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  static kafka_client& kafka() { return kafka_broker::of_all().client(); }
  [[nodiscard]] std::string url(const std::string& rest = "") const {
    return kafka_broker::of_all().url(
        topic, "?until=end&session.timeout.ms=3000&heartbeat.interval.ms=100&fetch.wait.max.ms=20&group=" +
                   topic + rest);
  }
  [[nodiscard]] std::map<std::int32_t, std::int64_t> committed() const {
    return kafka().committed(topic, topic);
  }
  [[nodiscard]] int members() const { return kafka().members(topic); }

  template <typename Condition>
  static void step_until(std::initializer_list<stepped_worker*> all, Condition holds,
                         const std::string& goal) {
    wait_until(
        [&] {
          for (stepped_worker* const each : all) each->step();
          return holds();
        },
        goal);
  }
  static void step_for(std::initializer_list<stepped_worker*> all, std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end)
      for (stepped_worker* const each : all) each->step();
  }

  std::string topic;
};

// Promise: with until=end a worker also reads what a crashed one leaves in its partitions (streams, Kafka).
TEST_F(KafkaEnd, OfAWorkerIsNotReachedWhileADeadOneHasPartitions) {
  kafka().create_topic(topic, 2);
  for (const std::int32_t p : {0, 1}) kafka().produce(topic, p, numbered(std::to_string(p) + "-", 100));
  auto first = std::make_unique<stepped_worker>(url());
  first->settles = false;
  step_until(
      {first.get()}, [&] { return first->read.size() == 200; }, "the first reads all");
  stepped_worker second(url());
  step_until(
      {first.get(), &second}, [&] { return second.read.size() == 100; }, "the second gets its part");
  first.reset();  // as by a crash: it does not leave the group
  step_for({&second}, 500ms);
  EXPECT_FALSE(second.ended);
  step_until(
      {&second}, [&] { return second.ended; }, "the second has ended");
  EXPECT_EQ(std::set(second.read.begin(), second.read.end()).size(), 200U);
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100), Pair(1, 100)));
}

// Promise: with until=end a worker without partitions ends when the others have settled everything (streams,
// Kafka).
TEST_F(KafkaEnd, OfAWorkerWithoutPartitionsIsThatOfTheOthers) {
  kafka().create_topic(topic, 1);
  kafka().produce(topic, 0, numbered("a", 100));
  stepped_worker busy(url());
  busy.settles = false;
  step_until(
      {&busy}, [&] { return busy.read.size() == 100; }, "the first reads all");
  stepped_worker idle(url());
  step_until(
      {&busy, &idle}, [&] { return members() == 2; }, "both are members");
  step_for({&busy, &idle}, 500ms);
  EXPECT_FALSE(idle.ended);
  busy.settle();
  step_until(
      {&busy, &idle}, [&] { return busy.ended && idle.ended; }, "both have ended");
  EXPECT_EQ(members(), 2);
  EXPECT_THAT(idle.read, IsEmpty());
}

// Promise: the marks of transactions at the end of a topic are settled, too (streams, Kafka).
TEST_F(KafkaEnd, IsBehindTheMarksOfTransactions) {
  kafka().create_topic(topic, 2);
  kafka_transaction transaction(kafka());
  for (const std::int32_t p : {0, 1}) transaction.produce(topic, p, numbered(std::to_string(p) + "-", 10));
  transaction.commit();
  stepped_worker first(url());
  first.settles = false;
  step_until(
      {&first}, [&] { return first.ended; }, "the first reads all");
  EXPECT_EQ(first.read.size(), 20U);
  stepped_worker second(url());
  step_until(
      {&first, &second}, [&] { return second.read.size() == 10; }, "the second gets its part");
  step_for({&first, &second}, 500ms);
  EXPECT_FALSE(second.ended);
  first.settle();
  step_until(
      {&first, &second}, [&] { return second.ended; }, "the second has ended");
  EXPECT_EQ(members(), 2);
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 11), Pair(1, 11)));
}

TEST_F(KafkaEnd, OfATopicOfAbortedTransactionsIsReached) {
  kafka().create_topic(topic, 1);
  for (int i = 0; i < 2; ++i) {
    kafka_transaction transaction(kafka());
    transaction.produce(topic, 0, numbered("a", 10));
    transaction.abort();
  }
  stepped_worker worker(url());
  step_until(
      {&worker}, [&] { return worker.ended; }, "it has ended");
  worker.leave();
  EXPECT_THAT(worker.read, IsEmpty());
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 22)));
}

TEST_F(KafkaEnd, IsBeforeAnOpenTransaction) {
  kafka().create_topic(topic, 1);
  kafka().produce(topic, 0, numbered("a", 10));
  kafka_transaction transaction(kafka());
  transaction.produce(topic, 0, numbered("b", 10));
  {
    stepped_worker worker(url());
    step_until(
        {&worker}, [&] { return worker.ended; }, "it has ended");
    worker.leave();
    EXPECT_EQ(worker.read, values(numbered("a", 10)));
  }
  transaction.commit();
  stepped_worker worker(url());
  step_until(
      {&worker}, [&] { return worker.ended; }, "it has ended again");
  EXPECT_EQ(worker.read, values(numbered("b", 10)));
}

TEST_F(KafkaEnd, OfAnEmptyTopicIsReachedByEveryWorker) {
  kafka().create_topic(topic, 2);
  kafka().produce(topic, 1, numbered("a", 10));
  kafka().delete_records(topic, 1, 10);
  stepped_worker first(url()), second(url()), third(url());
  step_until(
      {&first, &second, &third}, [&] { return first.ended && second.ended && third.ended; },
      "all have ended");
  EXPECT_THAT(committed(), IsEmpty()) << "nothing is settled where there is nothing";
}

TEST_F(KafkaEnd, IsThatOfTheJobIfItsGroupIsNew) {
  kafka().create_topic(topic, 2);
  positions reached;
  for (const std::int32_t p : {0, 1}) {
    kafka().produce(topic, p, numbered("a", 10));
    const std::string lane = topic + '/' + std::to_string(p);
    reached.insert({lane, {lane, 10}});
  }
  stepped_worker first(url(), reached), second(url(), reached);
  step_until(
      {&first, &second}, [&] { return first.ended && second.ended; }, "both have ended");
  EXPECT_THAT(first.read, IsEmpty());
  EXPECT_THAT(second.read, IsEmpty());
}

TEST_F(KafkaEnd, IsThatOfTheTopicWhenItsWorkerBegan) {
  kafka().create_topic(topic, 1);
  kafka().produce(topic, 0, numbered("a", 10));
  stepped_worker worker(url("&max.partition.fetch.bytes=1000"));
  for (int more = 10; !worker.ended; more += 1'000) {  // it never finds the end of the partition
    ASSERT_LT(more, 500'000);
    kafka().produce(topic, 0, numbered("a", 1'000, more));
    worker.step();
  }
  EXPECT_GE(worker.read.size(), 10U);
}

}  // namespace
}  // namespace everseen::test
