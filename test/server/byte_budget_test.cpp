#include "everseen/server/byte_budget.hpp"

#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::server {
namespace {

TEST(ByteBudget, GivesNoMoreThanThereIs) {
  byte_budget all(100);
  byte_budget::share one(all), other(all);
  EXPECT_TRUE(one.grow_to(60));
  EXPECT_FALSE(other.grow_to(41));
  EXPECT_TRUE(other.grow_to(40));
  EXPECT_FALSE(one.grow_to(61));
  EXPECT_EQ(all.taken(), 100U);
}

TEST(ByteBudget, AShareNeverShrinksUntilItIsGivenBack) {
  byte_budget all(100);
  byte_budget::share one(all);
  EXPECT_TRUE(one.grow_to(60));
  EXPECT_TRUE(one.grow_to(10));
  EXPECT_EQ(all.taken(), 60U);
  one.give_back();
  EXPECT_EQ(all.taken(), 0U);
}

TEST(ByteBudget, AShareIsGivenBackInTheEnd) {
  byte_budget all(100);
  {
    byte_budget::share one(all);
    ASSERT_TRUE(one.grow_to(100));
  }
  EXPECT_EQ(all.taken(), 0U);
}

TEST(ByteBudget, ManyThreadsTakeAndGiveBack) {
  byte_budget all(1000);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) {
          byte_budget::share one(all);
          (void)one.grow_to(300);
          (void)one.grow_to(600);
        }
      });
  }
  EXPECT_EQ(all.taken(), 0U);
}

}  // namespace
}  // namespace everseen::server
