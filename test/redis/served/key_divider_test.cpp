// Which keys of a batch share a call.

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/redis/served/packed_keys.hpp"

namespace everseen::redis {
namespace {

using slices = std::vector<window::slice_index>;

/// Slices of a second each; four before the newest are live.
spec windowed() {
  spec s;
  s.window = window_spec{std::chrono::seconds(4), 4};
  return s;
}

std::vector<event_time> at(const slices& all) {
  std::vector<event_time> times;
  for (const auto slice : all) times.push_back(event_time(std::chrono::seconds(slice)));
  return times;
}

/// The slices that a call says its keys have.
slices said(const packed_keys& call, std::size_t keys) {
  slices all(keys, call.slice);
  for (std::size_t i = 0; i < call.offsets.size(); ++i) all[i] += static_cast<unsigned char>(call.offsets[i]);
  return all;
}

/// The slices of the keys of each call.
std::vector<slices> calls_for(const slices& key_slices, bool adding) {
  const auto times = at(key_slices);
  key_divider divider(windowed(), times, adding);
  std::vector<slices> calls;
  for (std::size_t from = 0; from < key_slices.size();) {
    packed_keys call;
    const std::size_t keys = divider.divide(from, key_slices.size() - from, call);
    calls.push_back(said(call, keys));
    from += keys;
  }
  return calls;
}

using many = std::vector<slices>;

TEST(KeyDivider, WithoutAWindowTakesAllThatFit) {
  packed_keys call;
  EXPECT_EQ(key_divider({}, {}, true).divide(3, 47, call), 47U);
  EXPECT_EQ(call.slice, window::timeless);
  EXPECT_EQ(call.offsets, "");
}

TEST(KeyDivider, GivesOneTimeForAllOneSlice) {
  const auto times = at({13});
  packed_keys call;
  EXPECT_EQ(key_divider(windowed(), times, true).divide(3, 47, call), 47U);
  EXPECT_EQ(call.slice, 13);
  EXPECT_EQ(call.offsets, "");
}

TEST(KeyDivider, NamesTheSliceOfEachKeyIfTheyDiffer) {
  EXPECT_EQ(calls_for({14, 13, 10, 12, 15}, true), (many{{14, 13, 10, 12, 15}}));
  EXPECT_EQ(calls_for({14, 13, 10, 12, 15}, false), (many{{14, 13, 10, 12, 15}}));
}

TEST(KeyDivider, BeginsAnotherCallWhereAByteDoesNotReach) {
  EXPECT_EQ(calls_for({10, 265, 266}, true), (many{{10, 265}, {266}}));
  EXPECT_EQ(calls_for({300, 45, 44}, false), (many{{300, 45}, {44}}));
}

TEST(KeyDivider, CountsAddedKeysThatAreLateByAnEarlierOneAsOneSlice) {
  EXPECT_EQ(calls_for({1'000, 3, 1'001, 900, 4}, true), (many{{1'000, 995, 1'001, 995, 995}}));
  EXPECT_EQ(calls_for({3, 1'000, 4}, true), (many{{3}, {1'000, 995}})) << "the first one is not late";
}

TEST(KeyDivider, NamesLookUpsOfAnyAgeExactly) {
  EXPECT_EQ(calls_for({1'000, 3, 1'001}, false), (many{{1'000}, {3}, {1'001}}));
}

TEST(KeyDivider, TakesTimesFarApartWithoutOverflow) {
  spec s;
  s.window = window_spec{std::chrono::milliseconds(1), 1};
  const std::vector<event_time> times = {event_time::min(), event_time::max(), event_time::min()};
  key_divider divider(s, times, false);
  packed_keys call;
  EXPECT_EQ(divider.divide(0, 3, call), 1U);
  EXPECT_EQ(divider.divide(1, 2, call), 1U);
}

}  // namespace
}  // namespace everseen::redis
