// The relay's transactions, tested with librdkafka's own clients over real sockets.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/stream/kafka/kafka_sink.hpp"
#include "everseen/stream/kafka/rdkafka_handle.hpp"

#include "test/stream/kafka_reading.hpp"
#include "test/support/kafka/kafka_relay.hpp"
#include "test/support/kafka/kafka_wire.hpp"
#include "test/support/loopback.hpp"
#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAreArray;

using api = kafka_wire::api;

/// A worker that copies all records of clicks into fresh.
struct copying_worker {
  copying_worker(const kafka_relay& relay, const std::string& id)
      : from(parse_kafka_url(relay.url("clicks", quick())), "job"),
        to(parse_kafka_url(relay.url("fresh", "?transactional.id=" + id)), "job", &from) {
    from.begin(nothing_reached);
    to.begin("");
  }
  void put(std::size_t records) {
    while (records > 0) {
      source_batch batch;
      if (from.next(batch, 50ms) != source::state::records) continue;
      const std::vector<verdict> fresh(batch.records.size(), verdict::fresh);
      const std::vector<std::uint8_t> before(batch.records.size(), 0);
      to.put({batch, fresh, before});
      records -= std::min(records, batch.records.size());
      reached = from.reached(batch);
    }
  }
  void commit() { static_cast<void>(to.commit(std::span(&reached, 1))); }

  kafka_source from;
  kafka_sink to;
  checkpoint reached{};
};

struct KafkaRelay : ::testing::Test {
  kafka_cluster kafka{};
  kafka_relay relay{kafka};

  KafkaRelay() {
    kafka.create_topic("clicks", 1);
    kafka.create_topic("fresh", 2);
    kafka.produce("clicks", 0, numbered("a", 100));
  }
  [[nodiscard]] std::vector<std::string> seen() const {
    std::vector<std::string> values;
    for (const auto& each : relay.read_committed("fresh")) values.push_back(each.value);
    return values;
  }
  void expect_all_once() const { EXPECT_THAT(seen(), UnorderedElementsAreArray(values(numbered("a", 100)))); }
};

TEST_F(KafkaRelay, RecordsAndOffsetsOfATransactionAppearTogether) {
  copying_worker w(relay, "count-1");
  w.put(100);
  EXPECT_THAT(seen(), IsEmpty());
  EXPECT_THAT(relay.committed("g", "clicks", 1), IsEmpty());
  w.commit();
  expect_all_once();
  EXPECT_THAT(relay.committed("g", "clicks", 1), ElementsAre(Pair(0, 100)));
}

TEST_F(KafkaRelay, NextWorkerContinuesFromTheOffsetsOfTheTransaction) {
  {
    copying_worker first(relay, "count-1");
    first.put(100);
    first.commit();
    first.from.finish();
  }
  kafka.produce("clicks", 0, numbered("b", 5));
  kafka_source second(parse_kafka_url(relay.url("clicks", quick())), "job");
  second.begin(nothing_reached);
  EXPECT_EQ(first_position(take(second, 5)), 100U);
}

/// The offset of partition 0, as a worker of the group gets it.
rd_kafka_resp_err_t ask_offset(const kafka_relay& relay, std::int64_t& offset) {
  kafka_url where = parse_kafka_url(relay.url("clicks"));
  const auto asker = rdkafka::make(
      RD_KAFKA_CONSUMER,
      rdkafka::configure(where, {}, {{"group.id", "g"}, {"isolation.level", "read_committed"}}), where);
  const rdkafka::partition_list list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), "clicks", 0);
  const auto error = rd_kafka_committed(asker.get(), list.get(), 1'000);
  offset = list->elems[0].offset;
  return error;
}

TEST_F(KafkaRelay, PendingOffsetsAreWaitedFor) {
  const kafka_url where = parse_kafka_url(relay.url("fresh"));
  const auto producer = rdkafka::make(
      RD_KAFKA_PRODUCER, rdkafka::configure(where, {}, {{"transactional.id", "count-1"}}), where);
  const rdkafka::partition_list list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), "clicks", 0)->offset = 42;
  const rdkafka::group_metadata nobody(rd_kafka_consumer_group_metadata_new("g"));
  ASSERT_EQ(rd_kafka_init_transactions(producer.get(), 5'000), nullptr);
  ASSERT_EQ(rd_kafka_begin_transaction(producer.get()), nullptr);
  ASSERT_EQ(rd_kafka_send_offsets_to_transaction(producer.get(), list.get(), nobody.get(), 5'000), nullptr);

  std::int64_t offset = 0;
  EXPECT_NE(ask_offset(relay, offset), RD_KAFKA_RESP_ERR_NO_ERROR);
  ASSERT_EQ(rd_kafka_commit_transaction(producer.get(), 5'000), nullptr);
  EXPECT_EQ(ask_offset(relay, offset), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_EQ(offset, 42);
}

TEST_F(KafkaRelay, OffsetsOfAMemberOfAnEarlierGenerationAreRefused) {
  copying_worker slow(relay, "count-1");
  slow.put(100);
  std::map<std::string, checkpoint, std::less<>> reached{{slow.reached.source, slow.reached}};
  slow.to.leave_lost(reached);  // which records the generation
  kafka_source other(parse_kafka_url(relay.url("clicks", quick())), "job");
  other.begin(nothing_reached);
  const int before = relay.generation("g");
  wait_until(
      [&] {
        source_batch batch;
        static_cast<void>(slow.from.next(batch, 10ms));
        static_cast<void>(other.next(batch, 10ms));
        return relay.generation("g") > before;
      },
      "another generation");
  EXPECT_THROW(slow.commit(), backend_error);
  EXPECT_THAT(seen(), IsEmpty());
  EXPECT_EQ(relay.so_far().refused, 1);
}

TEST_F(KafkaRelay, LostAnswersAreRequestedAgainAndNothingIsDuplicated) {
  copying_worker w(relay, "count-1");
  relay.lose_answers(api::add_partitions, 1);
  relay.lose_answers(api::produce, 1);
  relay.lose_answers(api::add_offsets, 1);
  relay.lose_answers(api::transaction_offsets, 1);
  relay.lose_answers(api::end_transaction, 1);
  w.put(100);
  w.commit();
  expect_all_once();
  EXPECT_EQ(relay.so_far().commits, 1);
}

TEST_F(KafkaRelay, LostNetworkIsRetried) {
  copying_worker w(relay, "count-1");
  w.put(100);
  relay.lose_network(1s);
  w.commit();
  expect_all_once();
}

TEST_F(KafkaRelay, WorkerWhoseTransactionalIdWasTakenOverCommitsNothing) {
  copying_worker first(relay, "count-1");
  first.put(100);
  kafka_sink second(parse_kafka_url(relay.url("fresh", "?transactional.id=count-1")), "job", &first.from);
  second.begin("");
  try {
    first.commit();
    FAIL();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("same transactional.id"));
  }
  EXPECT_THAT(seen(), IsEmpty());
  EXPECT_EQ(relay.so_far().commits, 0);
}

TEST_F(KafkaRelay, IsReadOverTlsByClientsThatTrustItsCertificate) {
  const tls_files tls;
  const std::string port = std::to_string(free_port());
  const std::string plain = relay.brokers().substr(0, relay.brokers().find(','));
  const running_program terminator(
      {"socat",
       "OPENSSL-LISTEN:" + port + ",bind=127.0.0.1,reuseaddr,fork,verify=0,cert=" + tls.path("server.crt") +
           ",key=" + tls.path("server.key"),
       "TCP:" + plain});
  relay.advertise(static_cast<std::uint16_t>(std::stoi(port)), 0);
  const auto url = [&](const std::string& ca) {
    return parse_kafka_url("kafka://127.0.0.1:" + port + "/clicks" +
                           quick("&security.protocol=ssl&retry_for=10s&ssl.ca.location=" + ca));
  };
  kafka_source trusting(url(tls.ca()), "job");
  trusting.begin(nothing_reached);
  EXPECT_EQ(take(trusting, 100).size(), 100U);
  kafka_source wary(url(tls.stranger()), "job");
  EXPECT_THROW(wary.begin(nothing_reached), backend_error);
}

/// A consumer that joins a group of one broker by hand, so that it may leave in the middle.
class hand_made_member {
 public:
  explicit hand_made_member(const kafka_relay& relay)
      : fd_(connect_to(
            static_cast<std::uint16_t>(std::stoi(relay.brokers().substr(relay.brokers().find(':') + 1))))) {
    const timeval time_limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time_limit, sizeof time_limit);
  }
  void request_to_join(const std::string& name) const {
    constexpr std::int32_t session_timeout_ms =
        3'500;  // longer than the mock's wait for a group's first members
    send(request(api::join_group)
             .string("group")
             .int32(session_timeout_ms)
             .string(name)
             .string("consumer")
             .int32(1)
             .string("range")
             .int32(0));
  }
  /// Waits until the broker has read all earlier requests, also those of others: it has one thread, as the
  /// relay has.
  void wait_for_broker() const {
    send(request(api::api_versions));
    static_cast<void>(answer());
  }
  /// @return its name in the group; empty if it was refused
  [[nodiscard]] std::string joined() const {
    const std::string told = answer();
    kafka_wire::reader in(told);
    in.int32();  // correlation
    if (in.int16() != 0) return {};
    in.int32();   // generation
    in.string();  // protocol
    in.string();  // leader
    return std::string(in.string());
  }

 private:
  static kafka_wire::writer request(api what) {
    return kafka_wire::writer().int16(static_cast<std::int16_t>(what)).int16(0).int32(1).string("by hand");
  }
  void send(const kafka_wire::writer& what) const {
    const std::string bytes = kafka_wire::framed(what.text());
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  [[nodiscard]] std::string answer() const {
    const std::string length = received(sizeof(std::int32_t));
    return received(static_cast<std::size_t>(kafka_wire::reader(length).int32()));
  }
  [[nodiscard]] std::string received(std::size_t bytes) const {
    std::string all(bytes, '\0');
    if (::recv(fd_.get(), all.data(), bytes, MSG_WAITALL) != std::ssize(all))
      throw std::runtime_error("no answer");
    return all;
  }

  descriptor fd_;
};

TEST_F(KafkaRelay, MemberThatLosesItsConnectionWhileItJoinsMayJoinAgain) {
  std::string name;
  {
    const hand_made_member first(relay);
    first.request_to_join("");
    name = first.joined();
    ASSERT_NE(name, "");
    first.request_to_join(name);  // answered when the others have also had their time to join
    hand_made_member(relay).wait_for_broker();
  }
  const hand_made_member again(relay);
  again.request_to_join(name);
  EXPECT_EQ(again.joined(), name);
}

}  // namespace
}  // namespace everseen::test
