#include "everseen/core/spec/window.hpp"

#include <array>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr event_time at(std::int64_t ms) {
  return event_time{milliseconds{ms}};
}

TEST(Window, SliceBeginsAtItsFirstMillisecondAndEndsBeforeTheNext) {
  const window_spec w{1000ms, 10};
  EXPECT_EQ(window::slice_at(w, at(0)), 0);
  EXPECT_EQ(window::slice_at(w, at(99)), 0);
  EXPECT_EQ(window::slice_at(w, at(100)), 1);
  EXPECT_EQ(window::slice_at(w, at(199)), 1);
  EXPECT_EQ(window::slice_at(w, at(1000)), 10);
}

TEST(Window, SlicesBefore1970AreAlsoRoundedDown) {
  const window_spec w{1000ms, 10};
  EXPECT_EQ(window::slice_at(w, at(-1)), -1);
  EXPECT_EQ(window::slice_at(w, at(-100)), -1);
  EXPECT_EQ(window::slice_at(w, at(-101)), -2);
  EXPECT_EQ(window::slice_at(w, at(-1000)), -10);
}

TEST(Window, TheEarliestAndLatestTimesHaveASlice) {
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(window::slice_at({1ms, 1}, at(first)), first);
  EXPECT_EQ(window::slice_at({1ms, 1}, at(last)), last);
  EXPECT_EQ(window::slice_at({2ms, 1}, at(last)), last / 2);
}

TEST(Window, HasOneMoreLiveSliceThanRequested) {
  const window_spec w{1000ms, 10};
  EXPECT_EQ(window::live_slices(w), 11U);
  EXPECT_EQ(window::oldest_live(w, 100), 90);
  EXPECT_EQ(window::oldest_live(w, 3), -7);
}

TEST(Window, RemembersAKeyAtLeastAWidthAndAtMostAWidthAndASlice) {
  // Every time of a key's arrival against every later time, around the slice edges on both sides of 1970.
  for (const window_spec w : {window_spec{10ms, 1}, {12ms, 3}, {10ms, 10}, {35ms, 5}}) {
    const std::int64_t width = w.width.count(), step = w.slice_width().count();
    for (std::int64_t added = -50; added < 50; ++added) {
      for (std::int64_t time = added; time < added + 2 * (width + step); ++time) {
        const bool live =
            window::slice_at(w, at(added)) >= window::oldest_live(w, window::slice_at(w, at(time)));
        if (time - added <= width) {
          EXPECT_TRUE(live) << added << ' ' << time;
        }
        if (time - added >= width + step) {
          EXPECT_FALSE(live) << added << ' ' << time;
        }
      }
    }
  }
}

TEST(Window, BothEndsOfThatPromiseAreReached) {
  const window_spec w{12ms, 3};
  const auto remembered = [&](std::int64_t added) {
    std::int64_t ms = 0;
    while (window::slice_at(w, at(added)) >= window::oldest_live(w, window::slice_at(w, at(added + ms))))
      ++ms;
    return ms;
  };
  EXPECT_EQ(remembered(0), 16);  // at the beginning of its slice: a width and a slice
  EXPECT_EQ(remembered(3), 13);  // at its end: a width and the last millisecond
}

// Promise: a time more than one slice ahead of the clock is an error and changes nothing (dedup, Times in
// the future).
TEST(Window, AcceptsTimesUpToOneSliceAheadOfTheClock) {
  const window_spec w{3'600'000ms, 10};
  EXPECT_EQ(window::latest_accepted(w, at(5'000)), at(365'000));
  const std::array times = {at(10), at(365'000), event_time::min()};
  EXPECT_NO_THROW(window::must_be_plausible(w, times, at(5'000)));
  EXPECT_THROW(window::must_be_plausible(w, times, at(4'999)), parameter_error);
  EXPECT_NO_THROW(window::must_be_plausible(w, {}, event_time::min()));
}

TEST(Window, AllowsForClocksThatDifferByAMinuteButNeverForMoreThanItself) {
  EXPECT_EQ(window::most_ahead({600'000ms, 600}), 60'000ms);
  EXPECT_EQ(window::most_ahead({600'000ms, 5}), 120'000ms);
  EXPECT_EQ(window::most_ahead({1000ms, 10}), 1000ms);
}

TEST(Window, ATimeInSecondsIsAnErrorInsteadOfALateKey) {
  const window_spec hour{3'600'000ms, 6};
  const event_time clock = at(1'764'072'000'000);
  const auto error_about = [&](std::int64_t ms) -> std::string {
    try {
      const std::array times = {clock, at(ms)};
      window::must_be_plausible(hour, times, clock);
    } catch (const parameter_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error_about(1'764'072'000).find("1764072000 seems to be in seconds"), std::string::npos);
  EXPECT_NE(error_about(1'764'070'000).find("in seconds"), std::string::npos) << "half an hour ago";
  EXPECT_EQ(error_about(1'764'000'000), "") << "late in either unit";
  EXPECT_EQ(error_about(0), "");
  EXPECT_EQ(error_about(-1'764'072'000), "");
  const std::array<event_time, 1> recent = {at(90)};
  EXPECT_NO_THROW(window::must_be_plausible({1000ms, 10}, recent, at(500))) << "not late as it is";
}

TEST(Window, NothingIsAheadOfAClockAtTheEndOfTime) {
  const window_spec w{1000ms, 10};
  const std::array times = {event_time::max()};
  EXPECT_EQ(window::latest_accepted(w, event_time::max() - 1ms), event_time::max());
  EXPECT_NO_THROW(window::must_be_plausible(w, times, event_time::max() - 1ms));
}

TEST(Window, AnErrorAboutATimeAheadNamesItAndTheLatestOne) {
  const std::array times = {at(2'524'608'000'000)};
  try {
    window::must_be_plausible({600'000ms, 10}, times, at(1'764'072'000'000));
    FAIL();
  } catch (const parameter_error& e) {
    EXPECT_NE(std::string(e.what()).find("2050-01-01T00:00:00.000Z"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("2025-11-25T12:01:00.000Z"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace everseen
