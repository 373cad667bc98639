// Partitions of Apache Kafka that are reassigned while events are in flight.

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/stream/kafka_topics.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

constexpr int partitions = 4;

/// The events that several workers have read together.
class reading_list {
 public:
  void add(std::string_view event) {
    const std::lock_guard lock(mutex_);
    events_.emplace(event);
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }

 private:
  mutable std::mutex mutex_{};
  std::set<std::string> events_{};
};

/// A member of the group that settles all it reads, in a separate thread.
class reading_worker {
 public:
  reading_worker(const std::string& url, reading_list& read)
      : read_(read), from_(parse_kafka_url(url), "job"), thread_([this] { work(); }) {}
  ~reading_worker() { stop(); }
  reading_worker(const reading_worker&) = delete;
  reading_worker& operator=(const reading_worker&) = delete;

  void stop() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const std::vector<record_copy>& taken() const { return taken_; }  ///< @pre stop()

 private:
  void work() {
    from_.begin(nothing_reached);
    while (!stopped_) {
      source_batch batch;
      if (from_.next(batch, 20ms) != source::state::records) continue;
      for (const source_record& each : batch.records)
        taken_.push_back({batch.lane, std::string(each.bytes), each.position});
      for (const source_record& each : batch.records) read_.add(each.bytes);
      const checkpoint reached = from_.reached(batch);
      from_.settled(std::span(&reached, 1));
      count_ = taken_.size();
    }
    from_.finish();
  }

  reading_list& read_;
  kafka_source from_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::size_t> count_ = 0;
  std::vector<record_copy> taken_{};
  std::thread thread_;
};

struct KafkaRebalance : OwnTopics {
  reading_list read{};
  int produced = 0;

  void create() override { kafka().create_topic(clicks(), partitions); }
  /// This many into each partition.
  void produce(int count) {
    for (std::int32_t p = 0; p < partitions; ++p)
      kafka().produce(clicks(), p, numbered(std::to_string(p) + "-", count, produced));
    produced += count;
  }
};

TEST_F(KafkaRebalance, WorkersThatJoinAndLeaveLoseNoEvent) {
  reading_worker first(clicks_url(), read);
  produce(500);
  wait_until([&] { return first.count() > 0; }, "the first reads");
  reading_worker second(clicks_url(), read);
  for (int i = 0; i < 1'200 && second.count() == 0; ++i) {
    produce(10);
    std::this_thread::sleep_for(50ms);
  }
  ASSERT_GT(second.count(), 0U);
  first.stop();
  produce(500);
  wait_until([&] { return read.size() == static_cast<std::size_t>(partitions * produced); },
             "everything is read");
}

TEST_F(KafkaRebalance, RevokedLaneIsHeldUntilItsClaimsAreSettled) {
  produce(100);
  kafka_source first(parse_kafka_url(clicks_url()), "job");
  first.begin(nothing_reached);
  const auto taken = take(first, 400);  // claimed, not settled
  ASSERT_EQ(taken.size(), 400U);
  reading_worker second(clicks_url(), read);
  std::atomic<bool> ends = false;
  std::thread reading([&] {
    source_batch batch;
    while (!ends) static_cast<void>(first.next(batch, 20ms));
  });
  std::string lost;
  wait_until(
      [&] {
        for (const record_copy& each : taken)
          if (first.ownership_of(each.lane, each.generation) == source::ownership::leaving) lost = each.lane;
        return !lost.empty();
      },
      "a lane goes");
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(second.count(), 0U);
  for (int p = 0; p < partitions; ++p) {
    const checkpoint reached{lane(p), 100};
    first.settled(std::span(&reached, 1));
  }
  produce(10);
  wait_until([&] { return second.count() > 0; }, "the second reads on");
  ends = true;
  reading.join();
  first.finish();
  second.stop();
}

TEST_F(KafkaRebalance, CrashedWorkerLeavesItsUnsettledEventsToTheOthers) {
  reading_worker second(clicks_url(), read);
  {
    kafka_source first(parse_kafka_url(clicks_url()), "job");
    first.begin(nothing_reached);
    const auto is_a_member = [&] {
      source_batch batch;
      static_cast<void>(first.next(batch, 10ms));
      return kafka().members(group()) == 2;
    };
    wait_until(is_a_member, "both have partitions");
    produce(100);
    EXPECT_GE(take(first, 100).size(), 100U) << "its part; it settles nothing";
  }
  wait_until([&] { return read.size() == 400; }, "the second has read everything");
}

}  // namespace
}  // namespace everseen::test
