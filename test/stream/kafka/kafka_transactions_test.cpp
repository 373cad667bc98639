// The guarantees of the tests' own Kafka transactions, without sockets.

#include "test/support/kafka/kafka_transactions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everseen::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using error = kafka_wire::error;
using namespace std::chrono_literals;

struct KafkaTransactions : ::testing::Test {
  kafka_transactions all{};
  const kafka_transactions::partition fresh{"fresh", 0}, clicks{"clicks", 3};
  kafka_transactions::clock::time_point now{};

  kafka_transactions::producer begin(const std::string& id = "count-1") {
    return all.init(id, 60s, {}).second;
  }
  error put(kafka_transactions::producer p, const std::string& value, std::int32_t sequence,
            const std::string& id = "count-1") {
    if (const error e = all.add_partition(id, p, fresh, now); e != error::none) return e;
    return all.produce(id, fresh, {p, sequence, {{"", value, 0}}});
  }
  error send_offset(kafka_transactions::producer p, std::int64_t offset, const std::string& member = "",
                    std::int32_t generation = -1) {
    if (const error e = all.add_group("count-1", p, "g", now); e != error::none) return e;
    return all.send_offset("count-1", p, {"g", member, generation}, clicks, offset);
  }
  [[nodiscard]] std::vector<std::string> seen() const {
    std::vector<std::string> values;
    for (const auto& each : all.read_committed("fresh")) values.push_back(each.value);
    return values;
  }
};

TEST_F(KafkaTransactions, ShowRecordsOnlyAfterTheirCommit) {
  const auto p = begin();
  EXPECT_EQ(put(p, "a", 0), error::none);
  EXPECT_THAT(seen(), IsEmpty());
  EXPECT_EQ(all.end("count-1", p, true), error::none);
  EXPECT_THAT(seen(), ElementsAre("a"));
}

TEST_F(KafkaTransactions, NeverShowAbortedRecords) {
  const auto p = begin();
  put(p, "a", 0);
  EXPECT_EQ(all.end("count-1", p, false), error::none);
  put(p, "b", 1);
  EXPECT_EQ(all.end("count-1", p, true), error::none);
  EXPECT_THAT(seen(), ElementsAre("b"));
}

TEST_F(KafkaTransactions, NextProducerOfAnIdAbortsAndFencesItsPredecessor) {
  const auto old = begin();
  put(old, "a", 0);
  const auto young = begin();
  EXPECT_EQ(young.epoch, old.epoch + 1);
  EXPECT_EQ(put(old, "b", 1), error::invalid_producer_epoch);
  EXPECT_EQ(send_offset(old, 7), error::invalid_producer_epoch);
  EXPECT_EQ(all.end("count-1", old, true), error::invalid_producer_epoch);
  EXPECT_EQ(all.init("count-1", 60s, old).first, error::producer_fenced);
  EXPECT_EQ(put(young, "a", 0), error::none);
  EXPECT_EQ(all.end("count-1", young, true), error::none);
  EXPECT_THAT(seen(), ElementsAre("a"));
  EXPECT_EQ(all.so_far().refused, 4);
}

TEST_F(KafkaTransactions, CountOffsetsOnlyAfterTheirCommitAndMakeOthersWait) {
  const auto p = begin();
  EXPECT_EQ(send_offset(p, 42), error::none);
  EXPECT_TRUE(all.is_unstable("g", clicks));
  EXPECT_EQ(all.offset("g", clicks), std::nullopt);
  all.end("count-1", p, true);
  EXPECT_FALSE(all.is_unstable("g", clicks));
  EXPECT_EQ(all.offset("g", clicks), 42);
  send_offset(p, 50);
  all.end("count-1", p, false);
  EXPECT_EQ(all.offset("g", clicks), 42);
}

TEST_F(KafkaTransactions, RefuseOffsetsOfNonMembersOfTheGeneration) {
  const auto p = begin();
  all.joined({"g", "m1", 1});
  EXPECT_EQ(send_offset(p, 1, "m1", 1), error::none);
  all.joined({"g", "m2", 2});
  EXPECT_EQ(send_offset(p, 2, "m1", 1), error::illegal_generation);
  EXPECT_EQ(send_offset(p, 2, "m1", 2), error::unknown_member);
  all.joined({"g", "m1", 2});
  EXPECT_EQ(send_offset(p, 2, "m1", 2), error::none);
  all.left("g", "m1");
  EXPECT_EQ(send_offset(p, 3, "m1", 2), error::unknown_member);
}

TEST_F(KafkaTransactions, AcceptARetriedBatchOnceAndRefuseAGap) {
  const auto p = begin();
  put(p, "a", 0);
  EXPECT_EQ(put(p, "a", 0), error::none);
  EXPECT_EQ(put(p, "c", 2), error::out_of_order_sequence);
  all.end("count-1", p, true);
  EXPECT_THAT(seen(), ElementsAre("a"));
}

TEST_F(KafkaTransactions, ConfirmACommitThatIsRetried) {
  const auto p = begin();
  put(p, "a", 0);
  all.end("count-1", p, true);
  EXPECT_EQ(all.end("count-1", p, true), error::none);
  EXPECT_EQ(all.end("count-1", p, false), error::invalid_transaction_state);
  EXPECT_THAT(seen(), ElementsAre("a"));
}

TEST_F(KafkaTransactions, RefuseRecordsOfAPartitionThatWasNotAdded) {
  const auto p = begin();
  EXPECT_EQ(all.produce("count-1", fresh, {p, 0, {{"", "a", 0}}}), error::invalid_transaction_state);
  EXPECT_EQ(all.produce("count-2", fresh, {p, 0, {{"", "a", 0}}}), error::unknown_producer);
}

TEST_F(KafkaTransactions, AbortTransactionsThatTimeOutAndFenceTheirProducer) {
  const auto p = begin();
  put(p, "a", 0);
  all.expire(now + 60s);
  EXPECT_EQ(put(p, "b", 1), error::none);
  all.expire(now + 61s);
  EXPECT_EQ(all.end("count-1", p, true), error::invalid_producer_epoch);
  EXPECT_THAT(seen(), IsEmpty());
}

}  // namespace
}  // namespace everseen::test
