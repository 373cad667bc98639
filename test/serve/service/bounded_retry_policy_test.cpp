#include "everseen/serve/service/bounded_retry_policy.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

using namespace std::chrono_literals;

const std::string why = "away";
constexpr auto never = [] { return false; };

retry_policy::outage after(std::chrono::milliseconds lasted) {
  return {why, lasted, 10s};
}

bool another_thread_tries_again(bounded_retry_policy& p) {
  bool tries = false;
  std::thread([&] {
    tries = p.tries_again(after(0ms));
    p.leave();
  }).join();
  return tries;
}

TEST(BoundedRetryPolicy, RetriesThroughAnOutageAsLongAsTheStoreWould) {
  bounded_retry_policy p({1, 1}, never);
  EXPECT_TRUE(p.tries_again(after(0ms)));
  EXPECT_TRUE(p.tries_again(after(9'999ms)));
  EXPECT_FALSE(p.tries_again(after(10s)));
  EXPECT_EQ(p.waiting(), 0U);
}

TEST(BoundedRetryPolicy, LimitsTheNumberOfWaitingThreads) {
  bounded_retry_policy p({1, 1}, never);
  EXPECT_TRUE(another_thread_tries_again(p));
  ASSERT_TRUE(p.tries_again(after(0ms)));
  EXPECT_FALSE(another_thread_tries_again(p));
  EXPECT_TRUE(p.tries_again(after(1ms)));  // the waiting thread continues
  p.on_recovered();
  EXPECT_TRUE(another_thread_tries_again(p));
}

TEST(BoundedRetryPolicy, SlotIsReleasedByAnyThreadThatIsDone) {
  bounded_retry_policy p({1, 1}, never);
  ASSERT_TRUE(p.tries_again(after(0ms)));
  p.leave();
  p.leave();  // it had none any more
  EXPECT_EQ(p.waiting(), 0U);
}

TEST(BoundedRetryPolicy, NobodyWaitsOnceTheServerEnds) {
  bool ends = false;
  bounded_retry_policy p({1, 1}, [&] { return ends; });
  ASSERT_TRUE(p.tries_again(after(0ms)));
  ends = true;
  EXPECT_FALSE(p.tries_again(after(0ms)));
  EXPECT_EQ(p.waiting(), 0U);
}

TEST(BoundedRetryPolicy, WorkWithAPlaceWaitsThoughOthersWaitAndForLonger) {
  bounded_retry_policy p({1, 1}, never);
  std::thread([&] {
    ASSERT_TRUE(p.tries_again(after(0ms)));
    std::thread([&] {
      const auto place = p.take_place();
      ASSERT_TRUE(place);
      EXPECT_TRUE(p.tries_again(after(0ms)));
      EXPECT_TRUE(p.tries_again(after(11s)));
    }).join();
    p.leave();
  }).join();
}

TEST(BoundedRetryPolicy, NoPlaceIsLeftWhileAllWaitForTheStore) {
  bounded_retry_policy p({1, 1}, never);
  const auto another_thread_has_a_place = [&] {
    bool has = false;
    std::thread([&] { has = p.take_place().has_value(); }).join();
    return has;
  };
  {
    const auto place = p.take_place();
    ASSERT_TRUE(p.tries_again(after(0ms)));
    EXPECT_FALSE(another_thread_has_a_place());
    EXPECT_EQ(p.why(), why);
  }
  EXPECT_TRUE(another_thread_has_a_place());
  const auto place = p.take_place();
  p.on_silence(why);
  EXPECT_FALSE(another_thread_has_a_place());
}

TEST(BoundedRetryPolicy, PlaceIsWaitedForWhileTheStoreAnswers) {
  bounded_retry_policy p({1, 1}, never);
  std::thread other;
  {
    const auto place = p.take_place();
    ASSERT_TRUE(p.tries_again(after(0ms)));
    p.on_recovered();
    other = std::thread([&] { EXPECT_TRUE(p.take_place()); });
  }
  other.join();
}

TEST(BoundedRetryPolicy, PlaceWaitsNoLongerOnceTheServerEnds) {
  bool ends = false;
  bounded_retry_policy p({1, 1}, [&] { return ends; });
  const auto place = p.take_place();
  ASSERT_TRUE(p.tries_again(after(0ms)));
  ends = true;
  EXPECT_FALSE(p.tries_again(after(0ms)));
}

}  // namespace
}  // namespace everseen::serve
