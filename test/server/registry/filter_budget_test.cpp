#include "everseen/server/registry/filter_budget.hpp"

#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::server {
namespace {

TEST(FilterBudget, GrantsNoMoreThanThereIs) {
  filter_budget room(100);
  const auto one = room.reserve(60);
  EXPECT_THROW((void)room.reserve(41), no_room);
  const auto other = room.reserve(40);
  EXPECT_EQ(room.taken(), 100U);
  EXPECT_FALSE(room.is_full()) << "it is not exceeded";
}

TEST(FilterBudget, IsReleasedOnceThoughTheShareWasMoved) {
  filter_budget room(100);
  {
    auto made = room.reserve(60);
    const auto kept = std::move(made);
    EXPECT_EQ(room.taken(), 60U);
  }
  EXPECT_EQ(room.taken(), 0U);
}

TEST(FilterBudget, IsExceededByAFilterThatGrew) {
  filter_budget room(100);
  std::optional grown = room.reserve(60);
  const auto other = room.reserve(10);
  grown->set(200);
  EXPECT_TRUE(room.is_full());
  EXPECT_THROW((void)room.reserve(1), no_room);
  grown->set(50);
  EXPECT_EQ(room.taken(), 60U);
  grown.reset();
  EXPECT_EQ(room.taken(), 10U);
}

TEST(FilterBudget, ManyThreadsNeverTakeMoreThanThereIs) {
  filter_budget room(1000);
  std::atomic<bool> was_exceeded = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) try {
            const auto some = room.reserve(300);
            const auto more = room.reserve(300);
            if (room.taken() > 1000) was_exceeded = true;
          } catch (const no_room&) {
          }
      });
  }
  EXPECT_FALSE(was_exceeded);
  EXPECT_EQ(room.taken(), 0U);
}

}  // namespace
}  // namespace everseen::server
