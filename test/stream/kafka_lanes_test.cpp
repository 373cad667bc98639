#include "everseen/stream/kafka_lanes.hpp"

#include <array>
#include <thread>

#include <gtest/gtest.h>

namespace everseen {
namespace {

using namespace std::chrono_literals;

const std::array<std::string, 1> the_lane{"t/0"};

TEST(KafkaLanes, FirstBatchAfterALaneWasGotBegins) {
  kafka_lanes lanes;
  lanes.begin("t/0", 5);
  EXPECT_TRUE(lanes.give("t/0", 8));
  EXPECT_FALSE(lanes.give("t/0", 9));
  lanes.begin("t/0", 8);
  EXPECT_TRUE(lanes.give("t/0", 9));
}

TEST(KafkaLanes, LostLaneIsNobodysToClaimAndMayStillBeSettled) {
  kafka_lanes lanes;
  lanes.begin("t/0", 0);
  lanes.give("t/0", 10);
  lanes.lose("t/0");
  EXPECT_FALSE(lanes.has("t/0"));
  lanes.settle("t/0", 10);
  const auto settled = lanes.uncommitted();
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].position, 10U);
  lanes.committed("t/0", 10);
  EXPECT_TRUE(lanes.uncommitted().empty());
}

TEST(KafkaLanes, CommitThatFailedIsMadeAgain) {
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
  lanes.give("t/0", 20);
  EXPECT_FALSE(lanes.wait_until_idle(the_lane, 1ms));
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    lanes.settle("t/0", 10);
    lanes.abandon("t/0", 20);
  });
  EXPECT_TRUE(lanes.wait_until_idle(the_lane, 10s));
  other.join();
}

TEST(KafkaLanes, WhatIsLeftOfAnEarlierTurnLeadsNotBack) {
  kafka_lanes lanes;
  lanes.begin("t/0", 50);
  lanes.settle("t/0", 20);
  EXPECT_TRUE(lanes.uncommitted().empty());
}

TEST(KafkaLanes, UnknownLanesAreNoneOfOurs) {
  kafka_lanes lanes;
  EXPECT_FALSE(lanes.has("t/0"));
  EXPECT_FALSE(lanes.give("t/0", 1));
  lanes.settle("t/0", 1);
  lanes.lose("t/0");
  lanes.forget("t/0");
  EXPECT_TRUE(lanes.uncommitted().empty());
}

}  // namespace
}  // namespace everseen
