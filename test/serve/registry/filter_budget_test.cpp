#include "everseen/serve/registry/filter_budget.hpp"

#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

TEST(FilterBudget, GrantsNoMoreThanThereIs) {
  filter_budget room(100);
  const auto one = room.reserve({0, 60});
  EXPECT_THROW((void)room.reserve({0, 41}), no_room);
  const auto other = room.reserve({0, 40});
  EXPECT_EQ(room.taken(), 100U);
}

TEST(FilterBudget, IsReleasedOnceThoughTheShareWasMoved) {
  filter_budget room(100);
  {
    auto made = room.reserve({0, 60});
    const auto kept = std::move(made);
    EXPECT_EQ(room.taken(), 60U);
  }
  EXPECT_EQ(room.taken(), 0U);
}

TEST(FilterBudget, IsExceededByAFilterThatWasMeasured) {
  filter_budget room(100);
  std::optional<filter_budget::share> grown(room.reserve({0, 60}));
  const auto other = room.reserve({0, 10});
  grown->set(200);
  EXPECT_EQ(room.taken(), 210U);
  EXPECT_THROW((void)room.reserve({0, 1}), no_room);
  grown->set(50);
  EXPECT_EQ(room.taken(), 60U);
  grown.reset();
  EXPECT_EQ(room.taken(), 10U);
}

TEST(FilterBudget, LetsAFilterUseWhatItReservedAndThenGrowUpToTheLimit) {
  filter_budget room(100);
  auto one = room.reserve({10, 50});
  one.take(40);
  EXPECT_EQ(room.taken(), 50U) << "reserved before";
  one.take(30);
  EXPECT_EQ(room.taken(), 80U);
  EXPECT_THROW(one.take(21), full_error);
  EXPECT_EQ(room.taken(), 80U);
  one.take(20);
  EXPECT_EQ(room.taken(), 100U);
  one.give_back(20);
  one.take(20);
  EXPECT_EQ(room.taken(), 100U);
}

TEST(FilterBudget, IsNotSetToASizeFromBeforeTheLastGrowth) {
  filter_budget room(100);
  auto one = room.reserve({0, 10});
  const auto before = one.takes();
  one.take(50);
  EXPECT_FALSE(one.set({10, 10}, before));
  EXPECT_EQ(room.taken(), 50U);
  EXPECT_TRUE(one.set({40, 10}, one.takes()));
  EXPECT_EQ(room.taken(), 40U);
}

TEST(FilterBudget, HasNoLimitIfItNeedsNone) {
  filter_budget room(filter_budget::no_limit);
  const auto big = room.reserve({0, std::uint64_t{1} << 62});
  EXPECT_EQ(room.taken(), std::uint64_t{1} << 62);
}

TEST(FilterBudget, ManyThreadsNeverTakeMoreThanThereIs) {
  filter_budget room(1000);
  std::atomic<bool> was_exceeded = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) try {
            auto some = room.reserve({0, 300});
            const auto more = room.reserve({0, 300});
            some.take(400);
            if (room.taken() > 1000) was_exceeded = true;
          } catch (const error&) {
          }
      });
  }
  EXPECT_FALSE(was_exceeded);
  EXPECT_EQ(room.taken(), 0U);
}

}  // namespace
}  // namespace everseen::serve
