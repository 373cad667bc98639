// Partitions of Apache Kafka that are reassigned while events are in flight.

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "everseen/core/base/error.hpp"

#include "test/jobs/kafka/kafka_topics.hpp"
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

/// A static member of the group that settles all it reads, and its lanes.
struct static_member {
  explicit static_member(const std::string& name) : from(parse_kafka_url(clicks_of_members(name)), "job") {
    from.begin(nothing_reached);
  }
  void step() {
    source_batch batch;
    if (from.next(batch, 5ms) != source::state::records) return;
    generations.insert_or_assign(batch.lane, batch.generation);
    const checkpoint reached = from.reached(batch);
    from.settled(std::span(&reached, 1));
  }
  /// Those that it has read and has, each with its generation: a lane that is lost and comes back has
  /// another.
  [[nodiscard]] std::map<std::string, std::uint64_t> lanes() const {
    std::map<std::string, std::uint64_t> kept = generations;
    std::erase_if(kept, [this](const auto& each) {
      return from.ownership_of(each.first, each.second) != source::ownership::ours;
    });
    return kept;
  }
  /// How often the group has shared out its partitions, as this member knows: it is in librdkafka's own form
  /// of a membership, behind a mark.
  [[nodiscard]] std::int32_t generation_of_group() const {
    constexpr std::string_view mark = "CGMDv2:";
    const std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                          decltype(&rd_kafka_consumer_group_metadata_destroy)>
        membership(from.membership(), rd_kafka_consumer_group_metadata_destroy);
    void* bytes = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(rd_kafka_consumer_group_metadata_write(membership.get(), &bytes, &size), nullptr);
    const std::string text(static_cast<const char*>(bytes), size);
    rd_kafka_mem_free(nullptr, bytes);
    std::int32_t generation = -1;
    EXPECT_TRUE(text.starts_with(mark));
    std::memcpy(&generation, text.data() + mark.size(), sizeof generation);
    return generation;
  }

  /// The session is longer than the test: no partition moves because a member is gone.
  static std::string clicks_of_members(const std::string& name) {
    return kafka_broker::of_all().url(
        OwnTopics::clicks(), "?group=" + OwnTopics::group() +
                                 "&session.timeout.ms=300000&heartbeat.interval.ms=200&fetch.wait.max.ms=20"
                                 "&group.instance.id=" +
                                 name);
  }

  kafka_source from;
  std::map<std::string, std::uint64_t> generations{};
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

// Promise: a static member that restarts within its session gets its partitions back, and the others keep
// theirs (streams, Kafka).
TEST_F(KafkaRebalance, StaticMemberThatRestartsMovesNoPartition) {
  auto first = std::make_unique<static_member>("first");
  static_member second("second");
  const auto have_read = [&](std::size_t lanes_each) {
    first->step();
    second.step();
    if (kafka().members(group()) == 2) produce(1);
    return first->lanes().size() == lanes_each && second.lanes().size() == lanes_each;
  };
  wait_until([&] { return have_read(2); }, "each has two partitions");
  const auto of_first = first->lanes(), of_second = second.lanes();
  const std::int32_t generation = second.generation_of_group();
  first.reset();  // as by a crash
  first = std::make_unique<static_member>("first");
  const auto is_shared_anew = [&] { return second.generation_of_group() != generation; };
  wait_until([&] { return have_read(2) || is_shared_anew(); }, "the first reads again");
  EXPECT_EQ(second.lanes(), of_second);
  for (const auto& [lane, of_before] : of_first) EXPECT_TRUE(first->lanes().contains(lane)) << lane;
  EXPECT_EQ(second.generation_of_group(), generation) << "the group has shared out nothing";
  EXPECT_EQ(first->generation_of_group(), generation);
}

}  // namespace
}  // namespace everseen::test
