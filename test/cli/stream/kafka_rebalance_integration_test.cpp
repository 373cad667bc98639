// Partitions that change hands while a job works, on a broker of Apache Kafka: each fresh event is in the
// output once, compared with the known answer.

#include <optional>

#include <gmock/gmock.h>

#include "test/cli/stream/kafka_workers.hpp"
#include "test/support/kafka/kafka_broker.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;

struct RebalanceOnApacheKafka : testing::Test {
  void SetUp() override {
    kafka_broker::skip_test_without();
    if (IsSkipped()) return;
    job.emplace(kafka_broker::of_all().address(),
                testing::UnitTest::GetInstance()->current_test_info()->name(), 6);
    job->produce(1'000);
  }
  std::optional<kafka_workers> job;
};

// Promise: workers that join and leave a group, in order or by a crash, lose and double nothing (streams,
// Kafka).
TEST_F(RebalanceOnApacheKafka, IsExactThoughWorkersJoinAndLeave) {
  job->start("a", {.silence = std::chrono::seconds(20)});  // or, on a busy machine, its group gives it up
  job->wait_until_settled(1);
  job->start("b");
  job->produce(1'000);
  job->start("c");
  job->wait_for_members(3);
  job->produce(1'000);
  EXPECT_EQ(job->end("a", SIGTERM).exit_code, 128 + SIGTERM);
  job->wait_until_settled(2'000);
  job->produce(1'000);
  job->end("b", SIGKILL);
  job->produce(1'000);
  job->start("a");
  EXPECT_EQ(job->fault_at_the_end(), "");
}

TEST_F(RebalanceOnApacheKafka, IsExactThoughStaticMembersRestart) {
  const auto start = [&](const std::string& name) {
    job->start(name, {.of_source = "&group.instance.id=" + name, .silence = std::chrono::seconds(20)});
  };
  start("a");
  start("b");
  job->wait_for_members(2);
  job->produce(1'000);
  job->wait_until_settled(1'500);
  job->end("a", SIGKILL);
  job->produce(1'000);
  start("a");  // long before its session ends
  job->wait_until_all_are_settled();
  EXPECT_EQ(job->end("b", SIGTERM).exit_code, 128 + SIGTERM);  // it does not leave the group
  job->produce(1'000);
  start("b");
  job->wait_until_all_are_settled();
  job->wait_for_members(2);
  EXPECT_EQ(job->fault_at_the_end(), "");
}

TEST_F(RebalanceOnApacheKafka, StaticMemberOfAnotherOnesNameTakesItsPlace) {
  // So long that the group does not give one up that a busy machine keeps silent: it would end with another
  // error.
  const manner_of_work one{.of_source = "&group.instance.id=one", .silence = std::chrono::seconds(20)};
  job->start("a", one);
  job->wait_until_settled(500);
  job->start("b", one);
  const program_result fenced = job->end_of("a");
  EXPECT_EQ(fenced.exit_code, 3);
  EXPECT_THAT(fenced.err, HasSubstr("another worker has the same group.instance.id"));
  EXPECT_EQ(job->fault_at_the_end(), "");
}

// Promise: a worker that stands still for longer than its group waits, and returns, loses and doubles nothing
// (streams, Several workers).
TEST_F(RebalanceOnApacheKafka, IsExactThoughAWorkerReturnsThatTheGroupHasGivenUp) {
  job->start("a");
  job->start("b");
  job->wait_for_members(2);
  job->produce(2'000);
  job->wait_until_settled(1'200);
  job->send("a", SIGSTOP);
  job->wait_for_members(1);
  job->wait_until_all_are_settled();
  job->produce(1'000);
  job->send("a", SIGCONT);
  job->produce(1'000);
  EXPECT_EQ(job->fault_at_the_end(), "");
}

// Promise: of two workers with one transactional.id the older ends with an error, and nothing is lost
// (streams, Kafka).
TEST_F(RebalanceOnApacheKafka, IsExactThoughAWorkerReturnsWhoseTransactionWasTakenOver) {
  job->start("a", {.stops_at = "put:2"});
  job->wait_until_stopped("a");  // its transaction is open
  job->start("b", {.transactional_id = "a"});
  job->produce(1'000);
  job->wait_until_all_are_settled();
  job->send("a", SIGCONT);
  const program_result fenced = job->end_of("a");
  EXPECT_EQ(fenced.exit_code, 3);
  EXPECT_THAT(fenced.err, HasSubstr("same transactional.id"));
  job->start("a");  // takes it from the other one
  job->produce(1'000);
  EXPECT_EQ(job->fault_at_the_end(), "");
}

// Promise: partitions that are added while workers run are read from their beginning (streams, Kafka).
TEST_F(RebalanceOnApacheKafka, IsExactThoughPartitionsAreAdded) {
  job->start("a");
  job->start("b");
  job->wait_for_members(2);
  job->add_partitions(9);
  job->produce(2'000);
  job->wait_until_all_are_settled();
  EXPECT_EQ(job->fault_at_the_end(), "");
}

// Promise: partitions that are added while workers run are read from their beginning (streams, Kafka).
TEST_F(RebalanceOnApacheKafka, IsExactThoughAWorkerIsGivenPartitionsThatItHasNotHeardOf) {
  job->start("a");
  job->wait_for_members(1);
  job->start("b", {.asks_every = std::chrono::minutes(5)});
  job->wait_for_members(2);
  job->add_partitions(12);
  job->produce(2'000);
  job->wait_until_all_are_settled();
  EXPECT_EQ(job->fault_at_the_end(), "");
}

}  // namespace
}  // namespace everseen::test
