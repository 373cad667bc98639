#include "everseen/serve/base/counters.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

using namespace std::chrono_literals;

TEST(Counters, LoseNothingThatManyThreadsAdd) {
  spread_counters<2> counters;
  constexpr std::uint64_t each = 100'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 20; ++t)  // more than there are cache lines
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < each; ++i) counters.add(1, 2);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(counters.sum(0), 0U);
  EXPECT_EQ(counters.sum(1), 20 * 2 * each);
}

TEST(Counters, PutATimeIntoTheClassThatEndsAtIt) {
  duration_histogram took;
  took.note(1us);
  took.note(1us + 1ns);
  took.note(0ns);
  took.note(1h);
  const auto classes = took.classes();
  ASSERT_EQ(classes.size(), duration_histogram::ends_ns.size() + 1);
  EXPECT_EQ(classes[0], 2U);
  EXPECT_EQ(classes[1], 1U);
  EXPECT_EQ(classes.back(), 1U);
  EXPECT_NEAR(took.seconds(), 3600, 0.001);
}

TEST(Counters, DistinguishOutagesFromFullFilters) {
  batch_counters counters;
  counters.note(question::add, tally{.fresh = 3, .seen = 2});
  batch_failure full{batch_failure::cause::full, "", tally{.seen = 1, .unknown = 4}};
  counters.note(question::add, tl::unexpected(full));
  EXPECT_EQ(counters.outages(), 0U);
  counters.note_unanswered(question::check, 5, true);
  EXPECT_EQ(counters.outages(), 1U);
  EXPECT_EQ(counters.verdicts(question::add), (tally{.fresh = 3, .seen = 3, .unknown = 4}));
  EXPECT_EQ(counters.verdicts(question::check), (tally{.unknown = 5}));
  EXPECT_EQ(counters.batches(question::add), 2U);
}

}  // namespace
}  // namespace everseen::serve
