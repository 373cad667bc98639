// Kafka as a source, with a broker of Apache Kafka.

#include <array>
#include <fstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "everseen/core/base/error.hpp"

#include "test/jobs/kafka/kafka_topics.hpp"
#include "test/support/kafka/kafka_cluster.hpp"
#include "test/support/loopback.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

struct KafkaSource : OwnTopics {
  void create() override { kafka().create_topic(clicks(), 2); }

  static std::unique_ptr<kafka_source> reading(std::string_view rest = "") {
    auto made = std::make_unique<kafka_source>(parse_kafka_url(clicks_url(rest)), "job");
    made->begin(nothing_reached);
    return made;
  }
  static std::map<std::int32_t, std::int64_t> committed() { return kafka().committed(group(), clicks()); }
};

TEST_F(KafkaSource, ReturnsTheMessagesOfEachPartitionInOrderWithTheirOffsets) {
  const auto even = numbered("even", 5'000), odd = numbered("odd", 3'000);
  kafka().produce(clicks(), 0, even);
  kafka().produce(clicks(), 1, odd);
  const auto from = reading();
  const auto taken = take(*from, 8'000);
  const auto sorted = by_lane(taken);
  EXPECT_EQ(sorted.at(lane(0)), values(even));
  EXPECT_EQ(sorted.at(lane(1)), values(odd));
  std::map<std::string, std::uint64_t> next;
  for (const auto& each : taken) ASSERT_EQ(each.position, next[each.lane]++);
  EXPECT_EQ(from->lag(), 0U);
}

TEST_F(KafkaSource, KeepsKeysEmptyMessagesAndPadding) {
  kafka().produce(clicks(), 0, {{"value", "key"}, {"", "alone"}, {"last"}});
  const auto from = reading();
  source_batch batch;
  while (from->next(batch, 100ms) != source::state::records) continue;
  ASSERT_EQ(batch.records.size(), 3U);
  EXPECT_EQ(batch.records[0].envelope->key, "key");
  EXPECT_EQ(batch.records[1].bytes, "");
  EXPECT_EQ(batch.records[1].envelope->key, "alone");
  EXPECT_TRUE(batch.begins);
  EXPECT_EQ(batch.next, 3U);
  const char* const end = batch.records[2].bytes.data() + batch.records[2].bytes.size();
  EXPECT_EQ(std::string(end, 64), std::string(64, '\0'));
}

TEST_F(KafkaSource, EndsWithTheTopicOnRequest) {
  kafka().produce(clicks(), 0, numbered("a", 10));
  const auto from = reading("&until=end");
  EXPECT_EQ(take(*from, 1'000'000).size(), 10U);
  source_batch batch;
  EXPECT_EQ(from->next(batch, 5s), source::state::ended);
}

TEST_F(KafkaSource, ContinuesWhereItWasSettledAndNotWhereItHadRead) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  {
    const auto first = reading();
    take(*first, 100);
    const checkpoint reached{lane(0), 40};
    first->settled(std::span(&reached, 1));
    first->finish();
  }
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 40)));
  const auto second = reading();
  EXPECT_EQ(first_position(take(*second, 60)), 40U);
}

TEST_F(KafkaSource, CommitsNoUnsettledEvents) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  const auto from = reading();
  take(*from, 100);
  from->finish();
  EXPECT_THAT(committed(), IsEmpty());
}

TEST_F(KafkaSource, LedgerThatIsAheadOfTheGroupIsTrusted) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  kafka_source from(parse_kafka_url(clicks_url()), "job");
  from.begin({{lane(0), {lane(0), 70}}});
  EXPECT_EQ(first_position(take(from, 30)), 70U);
}

// Promise: the group's offset counts before the ledger's only with transactions (streams, Kafka).
TEST_F(KafkaSource, GroupThatIsAheadOfTheLedgerIsTrustedWithTransactionsOnly) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  {
    const auto from = reading();
    take(*from, 100, true);
    from->finish();
  }
  ASSERT_EQ(committed().at(0), 100);
  kafka().produce(clicks(), 0, numbered("b", 10));
  // As after the restart of a server that lost acknowledged data.
  for (const bool by_transactions : {true, false}) {
    kafka_source from(parse_kafka_url(clicks_url()), "job");
    if (by_transactions) from.commit_nothing();
    from.begin({{lane(0), {lane(0), 60}}});
    EXPECT_EQ(first_position(take(from, 1)), by_transactions ? 100U : 60U);
    from.finish();
  }
}

TEST_F(KafkaSource, NewGroupMayStartAtTheEnd) {
  kafka().produce(clicks(), 0, numbered("old", 100));
  const auto from = reading("&start=latest");
  source_batch batch;
  while (from->ownership_of(lane(0), 1) != source::ownership::ours)
    EXPECT_EQ(from->next(batch, 50ms), source::state::nothing_yet);
  kafka().produce(clicks(), 0, numbered("new", 10));
  EXPECT_THAT(values(take(*from, 10)), values(numbered("new", 10)));
}

// Promise: the starting offset of start=latest is committed before it is read (streams, Kafka).
TEST_F(KafkaSource, StartOfALaneIsCommittedBeforeItIsRead) {
  kafka().produce(clicks(), 0, numbered("old", 100));
  {
    const auto from = reading("&start=latest");
    source_batch batch;
    while (from->ownership_of(lane(0), 1) != source::ownership::ours)
      EXPECT_EQ(from->next(batch, 50ms), source::state::nothing_yet);
  }
  kafka().produce(clicks(), 0, numbered("meanwhile", 10));
  const auto again = reading("&start=latest");
  EXPECT_THAT(values(take(*again, 10)), values(numbered("meanwhile", 10)));
  EXPECT_EQ(again->warning_about(lane(0)), "") << "it begins at the configured offset";
}

// Promise: with start=latest, partitions that are created later are read from their beginning (streams,
// Kafka).
TEST_F(KafkaSource, PartitionThatWasAddedWhileNoWorkerRanIsReadFromItsBeginning) {
  {
    const auto from = reading("&start=latest");
    source_batch batch;
    while (committed().size() < 2) EXPECT_EQ(from->next(batch, 50ms), source::state::nothing_yet);
    from->finish();
  }
  kafka().add_partitions(clicks(), 3);
  kafka().produce(clicks(), 2, numbered("added", 10));
  const auto again = reading("&start=latest");
  EXPECT_THAT(values(take(*again, 10)), values(numbered("added", 10)));
}

// Promise: the group's lag is 0 when everything is read (streams, Kafka).
TEST_F(KafkaSource, LastSettlementIsCommittedThoughNothingFollows) {
  kafka().produce(clicks(), 0, numbered("a", 20));
  const auto from = reading();
  take(*from, 20);
  for (const std::uint64_t position : {10, 20}) {
    const checkpoint reached{lane(0), position};
    from->settled(std::span(&reached, 1));
  }
  wait_until(
      [&] {
        source_batch batch;
        EXPECT_EQ(from->next(batch, 50ms), source::state::nothing_yet);
        const auto offsets = committed();
        return offsets.contains(0) && offsets.at(0) == 20;
      },
      "the last settlement is committed");
}

TEST_F(KafkaSource, SessionThatTheBrokerDoesNotAllowIsReported) {
  kafka_source from(parse_kafka_url(kafka_broker::of_all().url(
                        clicks(), "?group=" + group() + "&session.timeout.ms=100&heartbeat.interval.ms=50")),
                    "job");
  from.begin(nothing_reached);
  EXPECT_THAT(failure_of<backend_error>(from), HasSubstr("group.min.session.timeout.ms"));
}

// Promise: brokers of another cluster are refused (streams, Kafka).
TEST_F(KafkaSource, CheckpointOfAnotherClusterIsAnError) {
  kafka().produce(clicks(), 0, numbered("a", 100));
  const auto first = reading();
  source_batch batch;
  while (first->next(batch, 50ms) != source::state::records) continue;
  const checkpoint here = first->reached(batch);
  EXPECT_FALSE(here.note.empty());
  kafka_source again(parse_kafka_url(clicks_url()), "g2");
  EXPECT_NO_THROW(again.begin({{lane(0), here}}));
  kafka_source elsewhere(parse_kafka_url(clicks_url()), "g2");
  try {
    elsewhere.begin({{lane(0), {lane(0), 70, "another-cluster"}}});
    ADD_FAILURE();
  } catch (const parameter_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("another-cluster"), HasSubstr("--job")));
  }
}

// Promise: a recreated topic is an error (streams, Kafka).
TEST_F(KafkaSource, RecreatedTopicIsAnErrorAndNotASilentJump) {
  kafka().produce(clicks(), 0, numbered("a", 10));
  kafka_source from(parse_kafka_url(clicks_url()), "job");
  from.begin({{lane(0), {lane(0), 5'000}}});
  EXPECT_THAT(failure_of<parameter_error>(from),
              AllOf(HasSubstr(lane(0)), HasSubstr("created again or truncated"), HasSubstr("--job")));
}

// Promise: events that retention removed are an error, unless gap=skip (streams, Kafka).
TEST_F(KafkaSource, EventsThatRetentionRemovedAreAnErrorUnlessGapsMayBeSkipped) {
  kafka().produce(clicks(), 0, numbered("a", 120));
  kafka().delete_records(clicks(), 0, 50);
  const std::map<std::string, checkpoint, std::less<>> reached{{lane(0), {lane(0), 1}}};
  kafka_source strict(parse_kafka_url(clicks_url()), "job");
  strict.begin(reached);
  EXPECT_THAT(failure_of<backend_error>(strict), AllOf(HasSubstr("retention"), HasSubstr("gap=skip")));
  kafka_source lenient(
      parse_kafka_url(kafka_broker::of_all().url(clicks(), "?group=" + own("h") + "&gap=skip&until=end")),
      "job");
  lenient.begin(reached);
  const auto taken = take(lenient, 1'000);
  EXPECT_EQ(taken.size(), 70U);
  EXPECT_EQ(first_position(taken), 50U);
}

// Promise: events that retention removed are an error, unless gap=skip (streams, Kafka).
TEST_F(KafkaSource, EventsThatRetentionRemovesAheadOfAWorkerAreSkippedIfGapsMayBe) {
  const std::string kilobyte(1'000, 'x');
  for (int batch = 0; batch < 50; ++batch) kafka().produce(clicks(), 0, numbered(kilobyte, 10));
  const auto from = reading(
      "&gap=skip&until=end&fetch.message.max.bytes=1000&queued.min.messages=1&queued.max.messages.kbytes=1");
  const auto first = take(*from, 1);
  kafka().delete_records(clicks(), 0, 450);
  const auto rest = take(*from, 1'000);
  EXPECT_LT(first.size() + rest.size(), 400U) << "it had read too far for a gap";
  EXPECT_EQ(rest.back().position, 499U);
  EXPECT_THAT(rest, Contains(Field(&record_copy::position, 450U)));
}

TEST_F(KafkaSource, TopicThatIsMadeWhileTheWorkerStartsIsFound) {
  const std::string late = own("late");
  kafka_source from(parse_kafka_url(kafka_broker::of_all().url(late, words())), "job");
  const std::jthread maker([&] {
    std::this_thread::sleep_for(500ms);
    kafka().create_topic(late, 1);
  });
  EXPECT_NO_THROW(from.begin(nothing_reached));
}

TEST_F(KafkaSource, OneUnknownTopicOfSeveralIsNamedAlone) {
  const std::string both = clicks() + ",no-such-topic";
  kafka_source from(parse_kafka_url(kafka_broker::of_all().url(both, words() + "&retry_for=5s")), "job");
  try {
    from.begin(nothing_reached);
    FAIL();
  } catch (const parameter_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no topic 'no-such-topic'"));
  }
}

TEST_F(KafkaSource, UnknownTopicIsReportedWithAdvice) {
  kafka_source from(parse_kafka_url(kafka_broker::of_all().url("no-such-topic", words())), "job");
  try {
    from.begin(nothing_reached);
    FAIL();
  } catch (const parameter_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("no topic 'no-such-topic'"), HasSubstr("kafka-topics.sh")));
  }
}

TEST(KafkaSourceUrl, MissingBrokersAreReportedAfterTheTimeLimitOfTheUrl) {
  kafka_source from(parse_kafka_url("kafka://127.0.0.1:1/clicks?group=g&retry_for=1s"), "job");
  try {
    from.begin(nothing_reached);
    FAIL();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("no broker answers")));
  }
}

TEST(KafkaSourceUrl, PortOfAnotherProtocolIsNoBroker) {
  const listening_socket http;
  const std::jthread server([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd waiting = {http.fd.get(), POLLIN, 0};
      if (::poll(&waiting, 1, 50) <= 0) continue;
      const descriptor client(::accept(http.fd.get(), nullptr, nullptr));
      std::array<char, 4'096> request{};
      if (::recv(client.get(), request.data(), request.size(), 0) <= 0) continue;
      constexpr std::string_view answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
      ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  });
  kafka_source from(
      parse_kafka_url("kafka://127.0.0.1:" + std::to_string(http.port) + "/clicks?group=g&retry_for=3s"),
      "job");
  try {
    from.begin(nothing_reached);
    FAIL();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no broker answers; is Kafka running there, is the port right"));
  }
}

TEST(KafkaSourceUrl, PropertiesAreCheckedByLibrdkafka) {
  const auto told = [](const std::string& rest) -> std::string {
    try {
      kafka_source(parse_kafka_url("kafka://h/clicks?" + rest), "job");
      return "nothing";
    } catch (const parameter_error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(told("fetch.max.bytes=1000000"), "nothing");
  EXPECT_THAT(told("no.such.property=1"), HasSubstr("'no.such.property'"));
  EXPECT_THAT(told("sasl.mechanism=PLAIN&fetch.max.bytes=hush"),
              AllOf(HasSubstr("fetch.max.bytes"), Not(HasSubstr("hush"))));
}

TEST(KafkaSourceUrl, PropertiesMayBeInAFileThatOthersCannotRead) {
  const scratch_directory folder;
  const std::string path = (folder.path() / "kafka.conf").string();
  const auto told = [&](const std::string& text) -> std::string {
    std::ofstream(path) << text;
    try {
      kafka_source(parse_kafka_url("kafka://h/clicks?config=" + path), "job");
      return "nothing";
    } catch (const parameter_error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(told("# ours\n\n socket.timeout.ms = 5000 \r\nclient.id=counter"), "nothing");
  EXPECT_THAT(told("fetch.max.bytes=hush"), AllOf(HasSubstr("fetch.max.bytes"), Not(HasSubstr("hush"))));
  EXPECT_THAT(told("client.id=a\nnonsense"), HasSubstr("line 2"));
  EXPECT_THAT(told("enable.auto.commit=true"), HasSubstr("when their events are settled"));
  EXPECT_THROW(kafka_source(parse_kafka_url("kafka://h/clicks?config=/no/such/file"), "job"), storage_error);
}

TEST(KafkaSourceUrl, AuthenticationIsCheckedBeforeAnythingIsRead) {
  const auto told = [](const std::string& rest) -> std::string {
    try {
      kafka_source(parse_kafka_url("kafka://h/clicks?" + rest), "job");
      return "nothing";
    } catch (const parameter_error& e) {
      return e.what();
    }
  };
  EXPECT_THAT(told("security.protocol=ssl&ssl.ca.location=/no/such/ca.pem"), HasSubstr("ssl.ca.location"));
  EXPECT_THAT(told("security.protocol=sasl_plaintext&sasl.mechanism=PLAIN"), HasSubstr("sasl.username"));
  EXPECT_THAT(told("security.protocol=tls"), HasSubstr("security.protocol"));
}

// Promise: a group that is ahead of a new job is reported (streams, Kafka).
TEST_F(KafkaSource, GroupThatIsAheadOfTheJobIsDoubted) {
  kafka().produce(clicks(), 0, numbered("a", 10));
  {
    const auto from = reading();
    take(*from, 10, true);
    from->finish();
  }
  kafka().produce(clicks(), 0, numbered("b", 10));
  const auto from = reading();
  EXPECT_EQ(first_position(take(*from, 10)), 10U);
  EXPECT_THAT(from->warning_about(lane(0)),
              AllOf(HasSubstr("group " + group()), HasSubstr("offset 10 of " + lane(0))));
  EXPECT_EQ(from->warning_about(lane(1)), "");
}

TEST(KafkaSourceOfMock, FailedRequestsAreRetried) {
  using request = kafka_cluster::request;
  kafka_cluster kafka;
  kafka.create_topic("clicks", 1);
  kafka.produce("clicks", 0, numbered("a", 1'000));
  kafka.fail_next(request::fetch, {-195, 6, 7, -195});
  kafka.fail_next(request::offset_fetch, {14, 16});
  kafka.fail_next(request::join_group, {16, 14});
  kafka_source from(parse_kafka_url(kafka.url("clicks", quick())), "job");
  from.begin(nothing_reached);
  EXPECT_EQ(by_lane(take(from, 1'000)).at("clicks/0"), values(numbered("a", 1'000)));
}

// librdkafka asks for such an event again for as long as the consumer lives.
TEST(KafkaSourceOfMock, EventThatCannotBeReadIsReported) {
  kafka_cluster kafka;
  kafka.create_topic("clicks", 1);
  kafka.produce("clicks", 0, numbered("a", 10));
  kafka.produce_damaged("clicks", 0);
  kafka_source from(parse_kafka_url(kafka.url("clicks", quick())), "job");
  from.begin(nothing_reached);
  EXPECT_THAT(failure_of<backend_error>(from), AllOf(HasSubstr("clicks/0"), HasSubstr("is damaged")));
}

}  // namespace
}  // namespace everseen::test
