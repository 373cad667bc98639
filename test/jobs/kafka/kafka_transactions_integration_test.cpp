// Copies from topic to topic by transactions, on a broker of Apache Kafka.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/kafka_sink.hpp"

#include "test/jobs/kafka/kafka_reading.hpp"
#include "test/support/kafka/kafka_broker.hpp"
#include "test/support/kafka/kafka_transaction.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAreArray;

/// A worker that copies all records of one topic into another.
struct copying_worker {
  copying_worker(const std::string& clicks, const std::string& fresh)
      : from(parse_kafka_url(clicks), "job"), output(parse_kafka_url(fresh), "job", &from) {
    from.begin(nothing_reached);
    output.begin("");
  }
  void put(std::size_t records) {
    while (records > 0) {
      source_batch batch;
      if (from.next(batch, 50ms) != source::state::records) continue;
      const std::vector<verdict> fresh(batch.records.size(), verdict::fresh);
      const std::vector<std::uint8_t> before(batch.records.size(), 0);
      output.put({batch, fresh, before});
      records -= std::min(records, batch.records.size());
      reached = from.reached(batch);
      last = batch;
    }
  }
  void commit() { static_cast<void>(output.commit(std::span(&reached, 1))); }
  void leave_lost() {
    std::map<std::string, checkpoint, std::less<>> all{{reached.lane, reached}};
    output.leave_lost(all);
  }

  kafka_source from;
  kafka_sink output;
  checkpoint reached{};
  source_batch last{};
};

/// Each test has its own topics and group on the broker of all.
struct KafkaTransactions : ::testing::Test {
  void SetUp() override {
    kafka_broker::skip_test_without();
    if (IsSkipped()) return;
    name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    kafka().create_topic(clicks(), 1);
    kafka().create_topic(fresh(), 2);
    kafka().produce(clicks(), 0, numbered("a", 100));
  }

  static kafka_client& kafka() { return kafka_broker::of_all().client(); }
  [[nodiscard]] std::string clicks() const { return "clicks-" + name; }
  [[nodiscard]] std::string fresh() const { return "fresh-" + name; }
  [[nodiscard]] std::string group() const { return "group-" + name; }
  /// @param silence  the longest that the group tolerates
  [[nodiscard]] std::string source_words(std::chrono::milliseconds silence = 6s,
                                         const std::string& rest = "") const {
    const std::string limit = std::to_string(silence.count());
    return "?group=" + group() + "&session.timeout.ms=" + limit + "&max.poll.interval.ms=" + limit +
           "&heartbeat.interval.ms=100&fetch.wait.max.ms=20" + rest;
  }
  [[nodiscard]] copying_worker worker(const std::string& id = "count-1",
                                      std::chrono::milliseconds silence = 6s) const {
    return {kafka_broker::of_all().url(clicks(), source_words(silence)),
            kafka_broker::of_all().url(fresh(), "?transactional.id=" + id + name)};
  }
  /// One whose network can be lost.
  [[nodiscard]] copying_worker worker_behind_gate() const {
    const kafka_broker::gate& gate = kafka_broker::of_all().gate_at(0);
    return {gate.url(clicks(), source_words()), gate.url(fresh(), "?transactional.id=count-1" + name)};
  }
  [[nodiscard]] std::vector<std::string> seen() const { return values(kafka().read(fresh())); }
  [[nodiscard]] std::map<std::int32_t, std::int64_t> committed() const {
    return kafka().committed(group(), clicks());
  }
  void expect_all_once() const { EXPECT_THAT(seen(), UnorderedElementsAreArray(values(numbered("a", 100)))); }

  std::string name;
};

TEST_F(KafkaTransactions, ShowRecordsAndOffsetsTogether) {
  copying_worker w = worker();
  w.put(100);
  EXPECT_THAT(seen(), IsEmpty());
  w.commit();
  expect_all_once();
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100)));
}

TEST_F(KafkaTransactions, OfNoRecordsCommitOffsetsAlone) {
  copying_worker w = worker();
  source_batch batch;
  while (w.from.next(batch, 50ms) != source::state::records) continue;
  w.reached = w.from.reached(batch);
  w.commit();
  EXPECT_THAT(seen(), IsEmpty());
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100)));
}

TEST_F(KafkaTransactions, AloneCommitTheOffsetsOfTheirSource) {
  copying_worker w = worker();
  w.put(100);
  w.from.settled(std::span(&w.reached, 1));
  w.from.finish();
  EXPECT_THAT(committed(), IsEmpty());
}

TEST_F(KafkaTransactions, LetTheNextWorkerContinueFromTheirOffsets) {
  {
    copying_worker first = worker();
    first.put(100);
    first.commit();
    first.from.finish();
  }
  kafka().produce(clicks(), 0, numbered("b", 5));
  kafka_source second(parse_kafka_url(kafka_broker::of_all().url(clicks(), source_words())), "job");
  second.begin(nothing_reached);
  EXPECT_EQ(first_position(take(second, 5)), 100U);
}

TEST_F(KafkaTransactions, ArePutAgainInALaterGenerationOfTheGroup) {
  copying_worker w = worker();
  w.put(100);
  w.leave_lost();  // which records the generation
  kafka_source other(parse_kafka_url(kafka_broker::of_all().url(clicks(), source_words())), "job");
  other.begin(nothing_reached);
  const auto is_in_a_later_generation = [&] {
    source_batch batch;
    static_cast<void>(w.from.next(batch, 10ms));
    static_cast<void>(other.next(batch, 10ms));
    return kafka().members(group()) == 2;
  };
  wait_until(is_in_a_later_generation, "another generation");
  w.commit();  // the only partition stays where it is
  expect_all_once();
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100)));
}

TEST_F(KafkaTransactions, OfAWorkerThatTheGroupHasLeftBehindAreRefused) {
  copying_worker slow = worker("count-1", 1'500ms);
  slow.put(100);
  slow.leave_lost();
  copying_worker other = worker("count-2");
  other.put(100);                  // the slow one was silent for too long
  slow.from.abandoned(slow.last);  // or it would wait for its settlement
  const auto learns_of_it = [&] {
    other.from.keep_alive();
    source_batch batch;
    static_cast<void>(slow.from.next(batch, 10ms));
    return slow.from.ownership_of(slow.last.lane, slow.last.generation) == source::ownership::gone;
  };
  wait_until(learns_of_it, "the slow one learns of it");
  EXPECT_THROW(slow.commit(), backend_error);
  other.from.keep_alive();
  EXPECT_THAT(seen(), IsEmpty());
  EXPECT_THAT(committed(), IsEmpty());
  other.commit();
  expect_all_once();
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100)));
}

// Promise: a transaction that Kafka has aborted at its time limit is an error that says so, and the next
// worker puts all of it (streams, Kafka).
TEST_F(KafkaTransactions, OfAWorkerThatStoodStillPastTheirTimeLimitAreRefused) {
  const std::string id = "?transactional.id=slow-" + name;
  {
    copying_worker slow(kafka_broker::of_all().url(clicks(), source_words()),
                        kafka_broker::of_all().url(fresh(), id + "&transaction.timeout.ms=1000"));
    slow.put(100);
    const auto is_aborted = [&] { return kafka().end_of(fresh(), 0) + kafka().end_of(fresh(), 1) > 0; };
    wait_until(is_aborted, "Kafka has aborted the transaction");
    try {
      slow.commit();
      FAIL();
    } catch (const backend_error& e) {
      EXPECT_THAT(e.what(), AllOf(HasSubstr("silent for longer than transaction.timeout.ms"),
                                  HasSubstr("start it again")));
    }
    EXPECT_THAT(seen(), IsEmpty());
    EXPECT_THAT(committed(), IsEmpty());
    slow.from.finish();
  }
  copying_worker again = worker("slow-");
  again.put(100);
  again.commit();
  expect_all_once();
}

TEST_F(KafkaTransactions, AreRetriedThroughALostNetwork) {
  copying_worker w = worker_behind_gate();
  w.put(100);
  kafka_broker::of_all().gate_at(0).cut();
  const std::jthread mending([] {
    std::this_thread::sleep_for(1s);
    kafka_broker::of_all().gate_at(0).mend();
  });
  w.commit();
  expect_all_once();
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100)));
}

// Promise: of two workers with one transactional.id the older ends with an error, and nothing is lost
// (streams, Kafka).
TEST_F(KafkaTransactions, OfAWorkerWhoseIdWasTakenOverAreRefused) {
  {
    copying_worker first = worker();
    first.put(100);
    kafka_sink second(
        parse_kafka_url(kafka_broker::of_all().url(fresh(), "?transactional.id=count-1" + name)), "job",
        &first.from);
    second.begin("");
    try {
      first.commit();
      FAIL();
    } catch (const backend_error& e) {
      EXPECT_THAT(e.what(), AllOf(HasSubstr("same transactional.id"), HasSubstr("start it again")));
    }
    EXPECT_THAT(seen(), IsEmpty());
    EXPECT_THAT(committed(), IsEmpty());
    first.from.finish();
  }
  copying_worker again = worker();
  again.put(100);
  again.commit();
  expect_all_once();
  EXPECT_THAT(committed(), ElementsAre(Pair(0, 100)));
}

// Promise: transactions of others that are open or aborted are not counted (streams, Kafka).
TEST_F(KafkaTransactions, OfOthersAreReadOnceTheyAreCommitted) {
  kafka_transaction aborted(kafka()), ended(kafka()), open(kafka());
  aborted.produce(clicks(), 0, numbered("aborted", 10));
  aborted.abort();
  ended.produce(clicks(), 0, numbered("committed", 10));
  ended.commit();
  open.produce(clicks(), 0, numbered("open", 10));
  std::vector<std::string> wanted = values(numbered("a", 100));
  for (const std::string& each : values(numbered("committed", 10))) wanted.push_back(each);
  kafka_source reader(parse_kafka_url(kafka_broker::of_all().url(clicks(), source_words(6s, "&until=end"))),
                      "job");
  reader.begin(nothing_reached);
  EXPECT_EQ(values(take(reader, 1'000)), wanted);
}

}  // namespace
}  // namespace everseen::test
