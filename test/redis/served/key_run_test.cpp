// Which keys of a batch share a call.

#include "everseen/redis/served/key_run.hpp"

#include <gtest/gtest.h>

namespace everseen::redis {
namespace {

using slices = std::vector<window::slice_index>;

/// Slices of a second each; four before the newest are live.
class KeyRun : public testing::Test {
 protected:
  KeyRun() {
    spec_.window = window_spec{std::chrono::seconds(4), 4};
    for (const window::slice_index index : {10, 11, 13, 14}) known_.slices.push_back({index, {}});
  }
  static std::vector<event_time> at(const slices& all) {
    std::vector<event_time> times;
    for (const auto slice : all) times.push_back(event_time(std::chrono::seconds(slice)));
    return times;
  }
  [[nodiscard]] key_run next(const slices& of, mixing allowed, std::size_t from = 0) const {
    return next_key_run(spec_, known_, at(of), from, of.size(), allowed);
  }

  spec spec_;
  remote_partition known_;
};

TEST_F(KeyRun, WithoutAWindowIsAllThatFits) {
  const key_run all = next_key_run({}, known_, {}, 3, 50, mixing::listed);
  EXPECT_EQ(all.keys, 47u);
  EXPECT_TRUE(all.slices.empty());
}

TEST_F(KeyRun, OfOneTimeForAllIsOfOneSlice) {
  const auto times = at({13});
  const key_run all = next_key_run(spec_, known_, times, 3, 50, mixing::listed);
  EXPECT_EQ(all.keys, 47u);
  EXPECT_EQ(all.slice, 13);
  EXPECT_TRUE(all.slices.empty());
}

TEST_F(KeyRun, ForAnAddEndsBeforeTheFirstUnlistedSlice) {
  const key_run first = next({14, 13, 10, 12, 14}, mixing::listed);
  EXPECT_EQ(first.slices, slices({14, 13, 10}));
  EXPECT_EQ(first.slice, 10);
  EXPECT_EQ(next({14, 14, 15}, mixing::listed).keys, 2u);
}

TEST_F(KeyRun, WithAnUnlistedFirstSliceIsOfThatSliceAlone) {
  const key_run first = next({12, 12, 14}, mixing::listed);
  EXPECT_EQ(first.keys, 2u);
  EXPECT_EQ(first.slice, 12);
  EXPECT_TRUE(first.slices.empty());
}

TEST_F(KeyRun, IncludesLateKeysAsOneSlice) {
  const key_run mixed = next({3, 14, 9, -700, 13}, mixing::listed);
  EXPECT_EQ(mixed.slices, slices({9, 14, 9, 9, 13}));
}

TEST_F(KeyRun, OfLateKeysAloneNamesTheirSlice) {
  EXPECT_EQ(next({3, 9, -700}, mixing::listed).slices, slices({9, 9, 9}));
  EXPECT_EQ(next({3}, mixing::any).slices, slices({9}));
}

TEST_F(KeyRun, ForAServerThatCreatesSegmentsIsLimitedByTheRangeOfAByte) {
  EXPECT_EQ(next({14, 12, 20, 266, 11, 264, 14}, mixing::any).keys, 4u);
  EXPECT_EQ(next({14, 12, 20, 266, 14}, mixing::any).slices, slices({14, 12, 20, 266, 14}));
  known_.slices.clear();
  EXPECT_EQ(next({5, 1, 255, 256}, mixing::any).slices, slices({5, 1, 255}));
}

TEST_F(KeyRun, AtTheExtremesOfTimeDoesNotOverflow) {
  spec_.window = window_spec{std::chrono::milliseconds(4), 4};
  known_.slices.clear();
  const std::vector<event_time> times = {event_time::min(), event_time::max()};
  EXPECT_EQ(next_key_run(spec_, known_, times, 0, 2, mixing::any).keys, 1u);
}

TEST_F(KeyRun, ForALookUpIncludesAllKeysThatAreNotNewerThanEverySlice) {
  const key_run old = next({14, 2, 12, 13, 15}, mixing::lookup);
  EXPECT_EQ(old.keys, 4u);
  EXPECT_EQ(old.slice, 14);
  EXPECT_TRUE(old.slices.empty());
  EXPECT_EQ(next({15, 15, 14}, mixing::lookup).keys, 2u);
  known_.slices.clear();
  EXPECT_EQ(next({15, 14}, mixing::lookup).keys, 1u);
}

}  // namespace
}  // namespace everseen::redis
