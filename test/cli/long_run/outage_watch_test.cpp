#include "everseen/cli/long_run/outage_watch.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everseen::cli {
namespace {

using namespace std::chrono_literals;
using policy = outage_watch::policy;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A watch, its messages, and whether the run is to end.
struct watched {
  explicit watched(policy reaction)
      : watch(
            reaction, [this](const std::string& text) { messages.push_back(text); },
            [this] { return ends; }) {}

  bool tries_again_after(std::chrono::milliseconds lasted) {
    return watch.tries_again({"redis at host:1 is down", lasted, 10s});
  }

  std::vector<std::string> messages;
  bool ends = false;
  outage_watch watch;
};

TEST(OutageWatch, HoldsIndefinitelyAndReportsItOnce) {
  watched one(policy::hold);
  EXPECT_TRUE(one.tries_again_after(1s));
  EXPECT_TRUE(one.tries_again_after(11s));
  EXPECT_TRUE(one.tries_again_after(24h));
  one.watch.on_recovered();
  one.watch.on_recovered();
  EXPECT_THAT(one.messages, ElementsAre(HasSubstr("held until it is back: redis at host:1 is down"),
                                        HasSubstr("the store is back after 1.")));
}

TEST(OutageWatch, FailsWhenTheStoreItselfWouldGiveUp) {
  watched one(policy::fail);
  EXPECT_TRUE(one.tries_again_after(9s));
  EXPECT_FALSE(one.tries_again_after(10s));
  EXPECT_THAT(one.messages, ElementsAre(HasSubstr("trying again")));
}

TEST(OutageWatch, PassesAfterOneAttemptOnceItHasGivenUpUntilTheStoreIsBack) {
  watched one(policy::pass);
  EXPECT_TRUE(one.tries_again_after(1s));
  EXPECT_FALSE(one.tries_again_after(10s));
  EXPECT_FALSE(one.tries_again_after(0s)) << "it is known to be unavailable";
  one.watch.on_recovered();
  EXPECT_TRUE(one.tries_again_after(0s));
  EXPECT_THAT(one.messages, ElementsAre(HasSubstr("trying again"), HasSubstr("without a verdict"),
                                        HasSubstr("the store is back")));
}

// Promise: servers remember an answer for a day only where a run may be held (redis, Retries).
TEST(OutageWatch, AsksServersToRememberForADayOnlyIfItHolds) {
  EXPECT_TRUE(watched(policy::hold).watch.may_take_hours());
  EXPECT_FALSE(watched(policy::pass).watch.may_take_hours());
  EXPECT_FALSE(watched(policy::fail).watch.may_take_hours());
}

TEST(OutageWatch, DoesNotReportAShortInterruption) {
  for (const policy reaction : {policy::fail, policy::pass, policy::hold}) {
    watched one(reaction);
    EXPECT_TRUE(one.tries_again_after(100ms));
    one.watch.on_recovered();
    EXPECT_THAT(one.messages, IsEmpty());
  }
}

TEST(OutageWatch, WaitsForNothingWhenTheRunIsToEnd) {
  for (const policy reaction : {policy::fail, policy::pass, policy::hold}) {
    watched one(reaction);
    one.ends = true;
    EXPECT_FALSE(one.tries_again_after(1s));
    EXPECT_THAT(one.messages, IsEmpty());
  }
}

}  // namespace
}  // namespace everseen::cli
