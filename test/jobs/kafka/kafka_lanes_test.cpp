#include "everseen/jobs/kafka/kafka_lanes.hpp"

#include <array>
#include <thread>

#include <gtest/gtest.h>

namespace everseen {
namespace {

using namespace std::chrono_literals;

const std::array<std::string, 1> the_lane{"t/0"};

TEST(KafkaLanes, FirstBatchOfANewlyAssignedLaneStartsIt) {
  kafka_lanes lanes;
  lanes.begin("t/0", 5);
  const auto first = lanes.give("t/0", 8);
  EXPECT_TRUE(first.begins);
  EXPECT_FALSE(lanes.give("t/0", 9).begins);
  lanes.begin("t/0", 8);
  const auto second = lanes.give("t/0", 9);
  EXPECT_TRUE(second.begins);
  EXPECT_EQ(lanes.ownership_of("t/0", first.number), source::ownership::gone);
  EXPECT_EQ(lanes.ownership_of("t/0", second.number), source::ownership::ours);
}

TEST(KafkaLanes, BatchOfAnEarlierAssignmentIsNotWaitedFor) {
  kafka_lanes lanes;
  lanes.begin("t/0", 0);
  const source_batch early{.lane = "t/0", .next = 10, .generation = lanes.give("t/0", 10).number};
  lanes.begin("t/0", 0);
  const source_batch late{.lane = "t/0", .next = 10, .generation = lanes.give("t/0", 10).number};
  lanes.abandon(early);
  EXPECT_FALSE(lanes.wait_until_idle(the_lane, 0ms));
  lanes.abandon(late);
  EXPECT_TRUE(lanes.wait_until_idle(the_lane, 0ms));
}

TEST(KafkaLanes, LostLaneCannotBeClaimedAndMayStillBeSettled) {
  kafka_lanes lanes;
  lanes.begin("t/0", 0);
  const auto generation = lanes.give("t/0", 10).number;
  lanes.lose("t/0");
  EXPECT_EQ(lanes.ownership_of("t/0", generation), source::ownership::leaving);
  lanes.settle("t/0", 10);
  const auto settled = lanes.uncommitted();
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].position, 10U);
  lanes.committed("t/0", 10);
  EXPECT_TRUE(lanes.uncommitted().empty());
}

TEST(KafkaLanes, FailedCommitIsRetried) {
  kafka_lanes lanes;
  lanes.begin("t/0", 0);
  lanes.settle("t/0", 10);
  EXPECT_EQ(lanes.uncommitted().size(), 1U);
  EXPECT_EQ(lanes.uncommitted().size(), 1U);
}

TEST(KafkaLanes, IsIdleWhenAllIsSettledOrAbandoned) {
  kafka_lanes lanes;
  lanes.begin("t/0", 0);
  EXPECT_TRUE(lanes.wait_until_idle(the_lane, 0ms));
  lanes.give("t/0", 10);
  const source_batch second{.lane = "t/0", .next = 20, .generation = lanes.give("t/0", 20).number};
  EXPECT_FALSE(lanes.wait_until_idle(the_lane, 1ms));
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    lanes.settle("t/0", 10);
    lanes.abandon(second);
  });
  EXPECT_TRUE(lanes.wait_until_idle(the_lane, 10s));
  other.join();
}

TEST(KafkaLanes, WaitsForAClaimedBatchThoughAnAbandonedOneHasTheSameEnd) {
  kafka_lanes lanes;
  lanes.begin("t/0", 0);
  lanes.give("t/0", 10);
  lanes.abandon({.lane = "t/0", .next = 10, .generation = lanes.give("t/0", 10).number});
  EXPECT_FALSE(lanes.wait_until_idle(the_lane, 0ms));
  lanes.settle("t/0", 10);
  EXPECT_TRUE(lanes.wait_until_idle(the_lane, 0ms));
}

TEST(KafkaLanes, RemainsOfAnEarlierAssignmentDoNotMoveItBack) {
  kafka_lanes lanes;
  lanes.begin("t/0", 50);
  lanes.settle("t/0", 20);
  EXPECT_TRUE(lanes.uncommitted().empty());
}

TEST(KafkaLanes, UnknownLanesAreIgnored) {
  kafka_lanes lanes;
  EXPECT_EQ(lanes.ownership_of("t/0", 1), source::ownership::gone);
  EXPECT_FALSE(lanes.give("t/0", 1).begins);
  lanes.settle("t/0", 1);
  lanes.lose("t/0");
  lanes.forget("t/0");
  EXPECT_TRUE(lanes.uncommitted().empty());
}

}  // namespace
}  // namespace everseen
