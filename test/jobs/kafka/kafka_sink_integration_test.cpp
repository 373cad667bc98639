// Kafka as a sink, with a broker of Apache Kafka; and answers to transactions that only librdkafka's mock
// cluster gives on demand. What transactions do: kafka_transactions_integration_test.cpp.

#include <algorithm>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/kafka_sink.hpp"

#include "test/jobs/kafka/kafka_topics.hpp"
#include "test/support/kafka/kafka_cluster.hpp"

namespace everseen::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

using request = kafka_cluster::request;

/// A batch of a source other than Kafka, and its verdicts.
struct judged {
  explicit judged(std::vector<std::string> texts, verdict all = verdict::fresh)
      : kept(std::make_shared<std::vector<std::string>>(std::move(texts))) {
    batch.lane = "a-file";
    for (const std::string& each : *kept) batch.records.push_back({each, batch.next++});
    batch.memory = kept;
    verdicts.assign(kept->size(), all);
    before.assign(kept->size(), 0);
  }
  [[nodiscard]] judged_batch view() const { return {batch, verdicts, before}; }
  [[nodiscard]] checkpoint reached() const { return {batch.lane, batch.next}; }

  std::shared_ptr<std::vector<std::string>> kept;
  source_batch batch{};
  std::vector<verdict> verdicts{};
  std::vector<std::uint8_t> before{};
};

std::string commit(sink& output, const checkpoint& reached) {
  return output.commit(std::span(&reached, 1));
}

struct KafkaSink : OwnTopics {
  void create() override { kafka().create_topic(fresh(), 2); }

  static std::string fresh() { return own("fresh"); }
  static kafka_url to(std::string_view rest = "") { return parse_kafka_url(gate().url(fresh(), rest)); }
};

TEST_F(KafkaSink, OutputIsInTheTopicWhenItIsCommitted) {
  kafka_sink sink(to(), "job", nullptr);
  sink.begin("");
  judged batch({"a", "b", "c", "d"});
  batch.verdicts = {verdict::fresh, verdict::seen, verdict::late, verdict::unknown};
  sink.put(batch.view());
  EXPECT_EQ(commit(sink, batch.reached()), "");
  EXPECT_THAT(values(kafka().read(fresh())), UnorderedElementsAreArray({"a", "d"}));
}

TEST_F(KafkaSink, RecordsWithOneKeyStayInOnePartition) {
  kafka_sink sink(to(), "job", nullptr);
  sink.begin("");
  judged batch({"1", "2", "3", "4", "5", "6", "7", "8"});
  record_envelope even, odd;
  even.key = "even";
  odd.key = "odd";
  for (std::size_t i = 0; i < 8; ++i) batch.batch.records[i].envelope = i % 2 == 0 ? &even : &odd;
  sink.put(batch.view());
  commit(sink, batch.reached());
  std::map<std::string, std::set<std::int32_t>> places;
  for (const auto& each : kafka().read(fresh())) places[each.key.value()].insert(each.partition);
  EXPECT_EQ(places.at("even").size(), 1U);
  EXPECT_EQ(places.at("odd").size(), 1U);
}

TEST_F(KafkaSink, OutageOfTheBrokersIsRetried) {
  kafka_sink sink(to("?reconnect.backoff.max.ms=200"), "job", nullptr);
  sink.begin("");
  gate().cut();
  const judged batch(std::vector<std::string>(1'000, "x"));
  sink.put(batch.view());
  std::thread later([&] {
    std::this_thread::sleep_for(1s);
    gate().mend();
  });
  commit(sink, batch.reached());
  later.join();
  EXPECT_EQ(kafka().read(fresh()).size(), 1'000U);
}

TEST_F(KafkaSink, OutageThatLastsTooLongIsReported) {
  kafka_sink sink(to("?retry_for=5s"), "job", nullptr);
  sink.begin("");
  gate().cut();
  const judged batch({"x"});
  sink.put(batch.view());
  EXPECT_THROW(commit(sink, batch.reached()), backend_error);
}

TEST_F(KafkaSink, OversizedEventIsReportedWithAdvice) {
  kafka_sink sink(to("?message.max.bytes=2000"), "job", nullptr);
  sink.begin("");
  const judged batch({std::string(3'000, 'x')});
  try {
    sink.put(batch.view());
    commit(sink, batch.reached());
    FAIL();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("message.max.bytes"), HasSubstr("max.message.bytes of the topic")));
  }
}

TEST_F(KafkaSink, RefusedEventIsReportedWithoutItsContent) {
  kafka().create_topic(own("compacted"), 1, {{"cleanup.policy", "compact"}});
  kafka_sink sink(parse_kafka_url(kafka_broker::of_all().url(own("compacted"))), "job", nullptr);
  sink.begin("");
  const judged batch({"secret"});
  try {
    sink.put(batch.view());
    commit(sink, batch.reached());
    FAIL();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("needs a key"), Not(HasSubstr("secret"))));
  }
}

TEST(KafkaSinkUrl, AcceptsOneTopicAndNoOptionsOfASource) {
  EXPECT_THROW(kafka_sink(parse_kafka_url("kafka://h/a,b"), "job", nullptr), parameter_error);
  EXPECT_THROW(kafka_sink(parse_kafka_url("kafka://h/a?group=g"), "job", nullptr), parameter_error);
}

// Promise: a file to Kafka: at least once (streams, Sources and sinks).
TEST(KafkaSinkOfMock, RecordsThatABrokerRefusedAreSentAgainBeforeOthersAreAcknowledged) {
  kafka_cluster kafka;
  kafka.create_topic("fresh", 1);
  kafka_sink sink(parse_kafka_url(kafka.url("fresh", "?linger.ms=0&batch.num.messages=3")), "job", nullptr);
  sink.begin("");
  kafka.set_round_trip(200ms);  // so that the next request would not wait for the answer to the first
  constexpr int not_the_leader = 6;
  kafka.fail_next(request::produce, {not_the_leader});
  const judged batch({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
  sink.put(batch.view());
  commit(sink, batch.reached());
  kafka.set_round_trip(0ms);
  EXPECT_THAT(values(kafka.read("fresh")), UnorderedElementsAreArray(*batch.kept));
}

/// From one topic to the other, all of it fresh.
struct KafkaToKafkaOfMock : ::testing::Test {
  kafka_cluster kafka{};
  std::unique_ptr<kafka_source> from{};
  std::unique_ptr<kafka_sink> sink{};

  KafkaToKafkaOfMock() {
    kafka.create_topic("clicks", 1);
    kafka.create_topic("fresh", 2);
  }
  void start() {
    kafka.produce("clicks", 0, numbered("a", 100));
    from = std::make_unique<kafka_source>(parse_kafka_url(kafka.url("clicks", quick())), "job");
    sink = std::make_unique<kafka_sink>(parse_kafka_url(kafka.url("fresh", "?transactional.id=count-1")),
                                        "job", from.get());
    from->begin(nothing_reached);
    sink->begin("");
  }
  /// Puts this many records.
  checkpoint put(std::size_t records) {
    checkpoint reached;
    while (records > 0) {
      source_batch batch;
      if (from->next(batch, 50ms) != source::state::records) continue;
      const std::vector<verdict> fresh(batch.records.size(), verdict::fresh);
      const std::vector<std::uint8_t> before(batch.records.size(), 0);
      sink->put({batch, fresh, before});
      records -= std::min(records, batch.records.size());
      reached = from->reached(batch);
    }
    return reached;
  }
  void expect_all_once() {
    EXPECT_THAT(values(kafka.read("fresh")), UnorderedElementsAreArray(values(numbered("a", 100))));
  }
};

TEST_F(KafkaToKafkaOfMock, TemporaryFailuresAreRetried) {
  start();
  const checkpoint reached = put(100);
  kafka.fail_next(request::end_transaction, {14, 15, 51});  // loading, not available, concurrent
  kafka.fail_next(request::transaction_offset_commit, {14});
  commit(*sink, reached);
  expect_all_once();
}

// Promise: a source and a sink by transactions are of one cluster (streams, Kafka).
TEST_F(KafkaToKafkaOfMock, SinkInAnotherClusterIsRefused) {
  kafka_cluster elsewhere;
  elsewhere.create_topic("fresh", 1);
  kafka.produce("clicks", 0, numbered("a", 100));
  kafka_source here(parse_kafka_url(kafka.url("clicks", quick())), "job");
  kafka_sink there(parse_kafka_url(elsewhere.url("fresh")), "job", &here);
  here.begin(nothing_reached);
  EXPECT_THAT([&] { there.begin(""); }, testing::ThrowsMessage<parameter_error>(
                                            HasSubstr("no transaction of Kafka is in two clusters")));
}

// Promise: an aborted transaction is put again, whole (streams, Kafka).
TEST_F(KafkaToKafkaOfMock, AbortedTransactionIsPutAgainCompletely) {
  start();
  const checkpoint reached = put(100);
  while (kafka.read("fresh").size() < 100) std::this_thread::sleep_for(10ms);
  kafka.fail_next(request::transaction_offset_commit, {42});  // INVALID_REQUEST ends the transaction
  commit(*sink, reached);
  std::map<std::string, int> times;  // the mock does not hide aborted records
  for (const auto& each : kafka.read("fresh")) ++times[each.value];
  ASSERT_EQ(times.size(), 100U);
  for (const auto& [value, count] : times) EXPECT_EQ(count, 2) << value;
}

}  // namespace
}  // namespace everseen::test
