// until=end: when a worker has read everything that its topics had, its own partitions and those of others.

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/jobs/job.hpp"
#include "everseen/jobs/kafka/kafka_sink.hpp"
#include "everseen/open_store.hpp"

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
  const auto patience = std::chrono::steady_clock::now() + 60s;
  for (int more = 10; !worker.ended; more += 1'000) {  // it never finds the end of the partition
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
    kafka().produce(topic, 0, numbered("a", 1'000, more));
    worker.step();
  }
  EXPECT_GE(worker.read.size(), 10U);
}

/// A job waits here until the test has done something.
class halt {
 public:
  void wait() {
    is_there = true;
    wait_until([&] { return goes_on.load(); }, "the job may go on");
  }
  std::atomic<bool> is_there = false;
  std::atomic<bool> goes_on = false;
};

/// Halts with its first batch.
class slow_sink final : public sink {
 public:
  explicit slow_sink(halt& h) : halt_(h) {}
  void begin(std::string_view /*note*/) override {}
  void put(const judged_batch& batch) override {
    halt_.wait();
    for (const source_record& each : batch.from.records) events.emplace_back(each.bytes);
  }
  std::string commit(std::span<const checkpoint>) override { return "note"; }

  std::vector<std::string> events{};

 private:
  halt& halt_;
};

/// Halts before it looks which lanes it has lost.
class slow_kafka_sink final : public kafka_sink {
 public:
  slow_kafka_sink(halt& h, const std::string& url, kafka_source* from)
      : kafka_sink(parse_kafka_url(url), "job", from), halt_(h) {}
  void leave_lost(std::map<std::string, checkpoint, std::less<>>& reached) override {
    halt_.wait();
    kafka_sink::leave_lost(reached);
  }

 private:
  halt& halt_;
};

/// A job that has read everything when it loses a lane, as by a pause of its process, and gets it back.
struct KafkaEndOfAJob : KafkaEnd {
  static constexpr int events = 20'000;  // two batches

  void SetUp() override {
    KafkaEnd::SetUp();
    if (IsSkipped()) return;
    kafka().create_topic(topic, 2);
    for (const std::int32_t p : {0, 1}) kafka().produce(topic, p, numbered(std::to_string(p) + "-", events));
    from = std::make_unique<kafka_source>(parse_kafka_url(url()), "job");
  }

  void run(sink& target, halt& halt_of_it) {
    const auto place = open_store("mem:");
    filter keys{"f", place->create("f", place->plan({.capacity = 100'000, .error_rate = 1e-12}))};
    const auto book = keys.stored().open_ledger("job", "what it does");
    job_options options;
    options.sink_name = "> slow";
    options.settle_every = 1h;
    job work({keys, *book, *from, &target}, options);
    auto done = std::async(std::launch::async, [&] { work.run(); });
    wait_until([&] { return halt_of_it.is_there.load(); }, "all is read");
    lose_a_lane_and_get_it_back();
    halt_of_it.goes_on = true;
    done.get();
  }

  void lose_a_lane_and_get_it_back() {
    const auto has_got_one_back = [&] {  // the generations before are 1 and 2
      return std::ranges::any_of(std::initializer_list<std::string_view>{"/0", "/1"}, [&](auto each) {
        return from->ownership_of(topic + std::string(each), 3) == source::ownership::ours;
      });
    };
    {
      stepped_worker other(url());
      other.settles = false;
      step_until(
          {&other}, [&] { return !other.read.empty(); }, "another worker gets a lane");
      EXPECT_FALSE(has_got_one_back());
    }  // as by a crash
    wait_until(has_got_one_back, "the lane is back");
  }

  std::unique_ptr<kafka_source> from;
};

TEST_F(KafkaEndOfAJob, IsBehindALaneThatItLostBeforeItJudgedItsEvents) {
  halt at_the_first_batch;
  slow_sink target(at_the_first_batch);
  run(target, at_the_first_batch);
  EXPECT_EQ(target.events.size(), 2U * events);
  EXPECT_EQ(std::set(target.events.begin(), target.events.end()).size(), 2U * events);
}

TEST_F(KafkaEndOfAJob, IsBehindALaneThatItLostBeforeItsTransactionEnded) {
  const std::string fresh = "fresh-" + topic;
  kafka().create_topic(fresh, 1);
  halt at_the_end;
  slow_kafka_sink target(at_the_end, kafka_broker::of_all().url(fresh), from.get());
  run(target, at_the_end);
  const auto seen = values(kafka().read(fresh));
  EXPECT_EQ(seen.size(), 2U * events);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 2U * events);
}

}  // namespace
}  // namespace everseen::test
