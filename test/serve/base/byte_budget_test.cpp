#include "everseen/serve/base/byte_budget.hpp"

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

TEST(ByteBudget, GrantsNoMoreThanThereIs) {
  byte_budget all(100);
  byte_budget::share one(all), other(all);
  EXPECT_TRUE(one.hold(60));
  EXPECT_FALSE(other.hold(41));
  EXPECT_TRUE(other.hold(40));
  EXPECT_FALSE(one.hold(61));
  EXPECT_EQ(all.taken(), 100U);
}

TEST(ByteBudget, AShareGrowsAndShrinks) {
  byte_budget all(100);
  byte_budget::share one(all);
  EXPECT_TRUE(one.hold(60));
  EXPECT_TRUE(one.hold(10));
  EXPECT_EQ(all.taken(), 10U);
  one.give_back();
  EXPECT_EQ(all.taken(), 0U);
}

TEST(ByteBudget, MovedShareIsHeldOnce) {
  byte_budget all(100);
  byte_budget::share one(all);
  ASSERT_TRUE(one.hold(60));
  {
    const byte_budget::share other(std::move(one));
    EXPECT_EQ(other.held(), 60U);
    EXPECT_EQ(all.taken(), 60U);
  }
  EXPECT_EQ(all.taken(), 0U);
}

TEST(ByteBudget, ShareIsReleasedAtItsEnd) {
  byte_budget all(100);
  {
    byte_budget::share one(all);
    ASSERT_TRUE(one.hold(100));
  }
  EXPECT_EQ(all.taken(), 0U);
}

TEST(ByteBudget, ManyThreadsTakeAndRelease) {
  byte_budget all(1000);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) {
          byte_budget::share one(all);
          (void)one.hold(300);
          (void)one.hold(600);
        }
      });
  }
  EXPECT_EQ(all.taken(), 0U);
}

}  // namespace
}  // namespace everseen::serve
