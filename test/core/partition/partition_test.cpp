#include "everseen/core/partition/partition.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/model/partition_doubles.hpp"

namespace everseen {
namespace {

using test::at_ms;
using test::checked_segments;
using test::errorless;
using test::exact_partition;
using test::owned_batch;
using test::timed_key;
using testing::ElementsAre;
using testing::ElementsAreArray;

using enum verdict;

std::vector<timed_key> keys_between(unsigned from, unsigned end) {
  std::vector<timed_key> keys;
  for (unsigned k = from; k < end; ++k) keys.push_back({k, 0});
  return keys;
}

std::vector<timed_key> keys_of(const std::vector<unsigned>& numbers) {
  std::vector<timed_key> keys;
  for (const unsigned k : numbers) keys.push_back({k, 0});
  return keys;
}

/// A partition over the checking double.
struct subject {
  explicit subject(const spec& s) : rules(s), logic(rules, 0, place) {}

  std::vector<verdict> add(const std::vector<timed_key>& keys) {
    owned_batch batch(keys);
    const batch_result result = logic.add(batch.view());
    EXPECT_TRUE(result) << result.error().message;
    if (result) {
      EXPECT_EQ(*result, test::count(batch.out));
    }
    place.expect_described_by(logic.state(), rules.growth == growth_kind::overfill);
    return batch.out;
  }
  verdict add(unsigned key, std::int64_t ms = 0) { return add(std::vector<timed_key>{{key, ms}}).front(); }

  std::vector<verdict> check(const std::vector<timed_key>& keys) const {
    owned_batch batch(keys);
    const tally found = logic.check(batch.view());
    EXPECT_EQ(found, test::count(batch.out));
    return batch.out;
  }
  verdict check(unsigned key, std::int64_t ms = 0) const {
    return check(std::vector<timed_key>{{key, ms}}).front();
  }

  [[nodiscard]] std::vector<std::uint64_t> layer_keys() const {
    std::vector<std::uint64_t> counts;
    for (const layer_state& layer : logic.state().slices.front().layers) counts.push_back(layer.keys);
    return counts;
  }

  spec rules;
  checked_segments place;
  partition logic;
};

TEST(Partition, ReportsTheFirstOccurrenceInABatchAsFresh) {
  subject p(errorless(100));
  EXPECT_THAT(p.add(keys_of({1, 2, 1, 3, 2, 1})), ElementsAre(fresh, fresh, seen, fresh, seen, seen));
  EXPECT_THAT(p.add(keys_of({4, 3, 4})), ElementsAre(fresh, seen, seen));
}

TEST(Partition, AnswersAnEmptyBatch) {
  subject p(errorless(100));
  EXPECT_TRUE(p.add(std::vector<timed_key>{}).empty());
  EXPECT_TRUE(p.check(std::vector<timed_key>{}).empty());
  EXPECT_EQ(p.place.size(), 0U);
}

// Promise: of a key that occurs twice in a batch the first is the fresh one, also where the filter grows in
// between (guarantees, Batches and threads).
TEST(Partition, FindsRepeatsAcrossAGrowthBoundaryInsideOneBatch) {
  subject p(errorless(4));  // layers of 4, 8, 16 keys
  EXPECT_THAT(p.add(keys_of({0, 1, 2, 0, 3, 4, 3, 4, 5, 0, 6, 7, 8, 9, 10, 11, 12, 12, 1, 11})),
              ElementsAre(fresh, fresh, fresh, seen, fresh, fresh, seen, seen, fresh, seen, fresh, fresh,
                          fresh, fresh, fresh, fresh, fresh, seen, seen, seen));
  EXPECT_THAT(p.layer_keys(), ElementsAre(4, 8, 1));
}

TEST(Partition, FillsEachLayerToItsLastPlace) {
  for (const unsigned step : {1U, 3U, 7U, 64U, 5000U}) {
    subject p(errorless(10));
    for (unsigned from = 0; from < 200; from += step) p.add(keys_between(from, std::min(200U, from + step)));
    EXPECT_THAT(p.layer_keys(), ElementsAre(10, 20, 40, 80, 50)) << "in steps of " << step;
  }
}

TEST(Partition, GrowsByThePlannedLayers) {
  subject p(errorless(10));
  p.add(keys_between(0, 100));
  const auto& layers = p.logic.state().slices.front().layers;
  ASSERT_EQ(layers.size(), 4U);
  for (unsigned i = 0; i < layers.size(); ++i) {
    const growth::layer_plan plan = growth::plan_layer(p.rules, i);
    EXPECT_EQ(layers[i].shape, plan.shape);
    EXPECT_EQ(layers[i].capacity, plan.capacity);
  }
}

TEST(Partition, GrowsOnlyForAKeyThatNeedsRoom) {
  subject p(errorless(10));
  p.add(keys_between(0, 10));
  p.add(keys_between(0, 10));
  EXPECT_THAT(p.layer_keys(), ElementsAre(10));
  p.add(10);
  EXPECT_THAT(p.layer_keys(), ElementsAre(10, 1));
}

TEST(Partition, JudgesBatchesLongerThanARunInOrder) {
  subject p(errorless(100));
  std::vector<timed_key> keys = keys_between(0, 5000);
  const std::vector<timed_key> again = keys;
  keys.insert(keys.end(), again.rbegin(), again.rend());
  const auto out = p.add(keys);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i < 5000 ? fresh : seen) << i;
}

// Promise: in a full filter exactly the keys that need room are unknown (guarantees, Failures).
TEST(Partition, LeavesExactlyTheUnplacedKeysUnknownWhenItRefuses) {
  subject p(errorless(3000, growth_kind::refuse));
  p.add(keys_between(0, 2990));

  // Known and new keys alternate over several runs; ten of the new keys find room.
  std::vector<timed_key> keys;
  std::vector<verdict> expected;
  for (unsigned i = 0; i < 2500; ++i) {
    keys.push_back({3000 + i, 0});
    expected.push_back(i < 10 ? fresh : unknown);
    keys.push_back({i, 0});
    expected.push_back(seen);
    if (i % 100 == 0) {
      keys.push_back({3000 + i, 0});
      expected.push_back(i < 10 ? seen : unknown);
    }
  }
  owned_batch batch(keys);
  const batch_result result = p.logic.add(batch.view());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, batch_failure::cause::full);
  EXPECT_EQ(result.error().done, test::count(expected));
  EXPECT_THAT(batch.out, ElementsAreArray(expected));
  EXPECT_THAT(p.layer_keys(), ElementsAre(3000));
  p.place.expect_described_by(p.logic.state(), false);
  EXPECT_EQ(p.check(3010), fresh) << "a refused key was not added";
}

TEST(Partition, AnswersForItsKeysWhenItIsFull) {
  subject p(errorless(50, growth_kind::refuse));
  p.add(keys_between(0, 50));
  EXPECT_EQ(test::count(p.add(keys_between(0, 50))).seen, 50U);
}

TEST(Partition, ContinuesInTheSameLayerWhenItOverfills) {
  subject p(errorless(50, growth_kind::overfill));
  EXPECT_EQ(test::count(p.add(keys_between(0, 90))).fresh, 90U);
  EXPECT_EQ(test::count(p.add(keys_between(0, 90))).seen, 90U);
  EXPECT_THAT(p.layer_keys(), ElementsAre(90));
}

// Promise: looking up keys changes nothing (guarantees, Verdicts).
TEST(Partition, LookUpsChangeNothing) {
  subject p(errorless(4));
  p.add(keys_between(0, 20));
  const partition_state before = p.logic.state();
  EXPECT_THAT(p.check(keys_of({0, 19, 20, 20, 7})), ElementsAre(seen, seen, fresh, fresh, seen));
  EXPECT_EQ(p.logic.state(), before);
}

TEST(Partition, ContinuesFromTheStateOfAnother) {
  const spec s = errorless(4);
  checked_segments place;
  partition first(s, 0, place);
  owned_batch batch(keys_between(0, 9));
  ASSERT_TRUE(first.add(batch.view()));

  partition second(s, 0, place, first.state());
  owned_batch more(keys_between(0, 14));
  ASSERT_TRUE(second.add(more.view()));
  EXPECT_EQ(test::count(more.out), (tally{.fresh = 5, .seen = 9}));
  EXPECT_EQ(second.state().keys(), 14U);
}

TEST(Partition, CountsKeysAndBytesOfAllSegments) {
  subject p(errorless(4));
  p.add(keys_between(0, 13));
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < 3; ++i) bytes += growth::plan_layer(p.rules, i).shape.bytes;
  EXPECT_EQ(p.logic.state().keys(), 13U);
  EXPECT_EQ(p.logic.state().bytes(), bytes);
}

// ---- failures

struct outcome {
  std::vector<verdict> verdicts;
  partition_state state;
  std::uint64_t calls = 0;
};

/// Adds the batches. Call `fail_at` of the placement fails once, and the keys left unknown are retried.
outcome run(const spec& s, const std::vector<std::vector<timed_key>>& batches, std::uint64_t fail_at,
            bool out_of_memory) {
  subject p(s);
  p.place.fail_at(fail_at, out_of_memory);
  outcome all;
  for (const std::vector<timed_key>& keys : batches) {
    owned_batch batch(keys);
    const std::uint64_t keys_before = p.logic.state().keys();
    const batch_result result = p.logic.add(batch.view());
    const tally done = test::count(batch.out);
    EXPECT_EQ(result ? *result : result.error().done, done);
    EXPECT_EQ(done.unknown > 0, !result);
    if (!result) {
      EXPECT_EQ(result.error().why, batch_failure::cause::storage);
      if (!s.window) {
        EXPECT_EQ(p.logic.state().keys(), keys_before + done.fresh) << "an unknown key was added";
      }
      test::retry_unknown(keys, batch, p.logic);
      p.place.expect_described_by(p.logic.state(), false);
    }
    all.verdicts.insert(all.verdicts.end(), batch.out.begin(), batch.out.end());
  }
  all.state = p.logic.state();
  all.calls = p.place.calls();
  return all;
}

class PartitionFailure : public testing::TestWithParam<bool> {};

// Promise: a retry of the unknown keys gets the verdicts of an undisturbed run, whichever step failed
// (guarantees, Failures).
TEST_P(PartitionFailure, AnswersARetryAsIfNothingHadFailed) {
  const bool window = GetParam();
  const spec s = window ? errorless(40, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4})
                        : errorless(8);
  const auto batches = test::troublesome_batches(window);
  const outcome undisturbed = run(s, batches, UINT64_MAX, false);
  ASSERT_GT(undisturbed.calls, window ? 20U : 4U);
  for (std::uint64_t call = 0; call < undisturbed.calls; ++call) {
    SCOPED_TRACE("call " + std::to_string(call) + " fails");
    const outcome disturbed = run(s, batches, call, call % 2 == 0);
    ASSERT_THAT(disturbed.verdicts, ElementsAreArray(undisturbed.verdicts));
    // Segments that a failed drop left are removed by the next rotation; the live segments are the same
    // immediately.
    const auto live =
        window::oldest_live(s.window.value_or(window_spec{}), disturbed.state.slices.back().index);
    partition_state state = disturbed.state;
    std::erase_if(state.slices, [&](const slice_state& slice) { return slice.index < live; });
    EXPECT_EQ(state, undisturbed.state);
  }
}

INSTANTIATE_TEST_SUITE_P(Partition, PartitionFailure, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "WithWindow" : "WithoutWindow";
});

TEST(Partition, NextRotationDropsTheRemainsOfAFailedDrop) {
  subject p(errorless(10, growth_kind::grow, window_spec{std::chrono::milliseconds(100), 1}));
  p.add(1, 0);
  p.add(2, 100);
  p.place.fail_at(p.place.calls() + 1, false);  // create works, drop does not
  owned_batch batch({{3, 200}});
  ASSERT_FALSE(p.logic.add(batch.view()));
  EXPECT_EQ(p.place.size(), 3U);
  EXPECT_EQ(p.add(3, 200), fresh);
  EXPECT_EQ(p.check(1, 200), fresh) << "an expired slice is not read, dropped or not";
  EXPECT_EQ(p.add(4, 300), fresh);
  EXPECT_EQ(p.place.size(), 2U);
}

TEST(Partition, DoesNotMoveItsWindowWhenASliceCannotBeCreated) {
  subject p(errorless(10, growth_kind::grow, window_spec{std::chrono::milliseconds(100), 1}));
  p.add(1, 0);
  p.place.fail_at(p.place.calls(), false);
  owned_batch batch({{2, 1000}});
  ASSERT_FALSE(p.logic.add(batch.view()));
  EXPECT_EQ(batch.out.front(), unknown);
  EXPECT_EQ(p.add(1, 50), seen);
}

// ---- windows

spec windowed(std::int64_t width_ms, std::uint32_t slices) {
  return errorless(100, growth_kind::grow, window_spec{std::chrono::milliseconds(width_ms), slices});
}

// Promise: a key is remembered for at least the window and at most one slice more (dedup, Windows and time).
TEST(PartitionWindow, RemembersForTheWidthAndForgetsAfterOneSliceMore) {
  for (const std::int64_t first : {0, 1, 99}) {  // anywhere in the slice [0, 100)
    for (const std::int64_t later : {first + 399, first + 400, std::int64_t{499}}) {
      subject p(windowed(400, 4));
      ASSERT_EQ(p.add(1, first), fresh);
      EXPECT_EQ(p.add(1, later), seen) << first << " to " << later;
    }
    subject p(windowed(400, 4));
    ASSERT_EQ(p.add(1, first), fresh);
    EXPECT_EQ(p.add(1, 500), fresh) << first;
  }
}

// Promise: repeats do not prolong how long a key is remembered (dedup, Windows and time).
TEST(PartitionWindow, RepeatsDoNotProlongIt) {
  subject p(windowed(400, 4));
  EXPECT_EQ(p.add(1, 0), fresh);
  EXPECT_EQ(p.add(1, 400), seen);
  EXPECT_EQ(p.add(1, 500), fresh);
}

// Promise: a key older than the window is late and is not added (dedup, Windows and time).
TEST(PartitionWindow, ReportsKeysOlderThanTheWindowAsLateAndDoesNotAddThem) {
  subject p(windowed(400, 4));
  p.add(1, 1000);
  EXPECT_EQ(p.add(2, 599), late);
  EXPECT_EQ(p.check(2, 599), late);
  EXPECT_EQ(p.add(2, 600), fresh) << "the oldest live slice accepts keys";
  EXPECT_EQ(p.add(2, 1000), seen);
}

// Promise: a key out of order belongs to the slice of its own time (dedup, Windows and time).
TEST(PartitionWindow, AddsKeysOutOfOrderToTheirOwnSlice) {
  subject p(windowed(400, 4));
  p.add(1, 1000);
  p.add(2, 700);
  p.add(3, 1100);
  EXPECT_EQ(p.check(2, 1150), seen);
  EXPECT_EQ(p.check(2, 1200), fresh) << "forgotten with the slice of its own time";
  ASSERT_EQ(p.logic.state().slices.size(), 3U);
  EXPECT_EQ(p.logic.state().slices[0].index, 7);
}

TEST(PartitionWindow, KeepsOnlySlicesThatOccur) {
  subject p(windowed(1000, 1000));
  p.add(1, 0);
  p.add(2, 500);
  p.add(3, 1000);
  EXPECT_EQ(p.place.size(), 3U);
  EXPECT_EQ(p.add(1, 1000), seen);
  p.add(4, 1501);
  EXPECT_EQ(p.place.size(), 2U);
}

// Promise: a jump of the watermark drops all older slices (dedup, Times in the future).
TEST(PartitionWindow, DropsEverythingAfterALongPause) {
  subject p(windowed(400, 4));
  p.add({{1, 0}, {2, 100}, {3, 200}});
  EXPECT_EQ(p.add(1, 1'000'000), fresh);
  EXPECT_EQ(p.place.size(), 1U);
}

// Promise: looking up keys does not move the watermark (dedup, Windows and time).
TEST(PartitionWindow, LookUpsDoNotRotateIt) {
  subject p(windowed(400, 4));
  p.add(1, 0);
  EXPECT_EQ(p.check(1, 499), seen);
  EXPECT_EQ(p.check(1, 500), fresh);
  EXPECT_EQ(p.check(1, 1'000'000), fresh);
  EXPECT_EQ(p.add(1, 100), seen) << "the look-up in the future changed nothing";
}

// Promise: a window may move inside a batch (guarantees, Batches and threads).
TEST(PartitionWindow, RotatesInsideABatch) {
  subject p(windowed(400, 4));
  EXPECT_THAT(p.add({{1, 0}, {2, 0}, {1, 450}, {1, 500}, {2, 0}, {2, 499}, {1, 500}}),
              ElementsAre(fresh, fresh, seen, fresh, late, fresh, seen));
}

TEST(PartitionWindow, AcceptsOneTimeForAWholeBatch) {
  subject p(windowed(400, 4));
  std::vector<timed_key> keys = keys_between(0, 3000);
  owned_batch batch(keys);
  const event_time when = at_ms(250);
  ASSERT_TRUE(p.logic.add({0, batch.digests, {&when, 1}, batch.out}));
  EXPECT_EQ(test::count(batch.out).fresh, 3000U);
  ASSERT_EQ(p.logic.state().slices.size(), 1U);
  EXPECT_EQ(p.logic.state().slices.front().index, 2);
}

// Promise: each slice of a window fills up on its own (guarantees, Failures).
TEST(PartitionWindow, RefusesPerSlice) {
  const window_spec w{std::chrono::milliseconds(200), 2};
  subject p(errorless(20, growth_kind::refuse, w));  // ten keys a slice
  p.add(keys_between(0, 10));
  owned_batch batch({{10, 0}, {11, 100}, {5, 100}, {12, 0}});
  const batch_result result = p.logic.add(batch.view());
  ASSERT_FALSE(result);
  EXPECT_THAT(batch.out, ElementsAre(unknown, fresh, seen, unknown));
}

// Promise: all times of 64 bits are allowed (dedup, Windows and time).
TEST(PartitionWindow, SupportsTheExtremesOfTime) {
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (const auto& [width, slices] :
       {std::pair{std::int64_t{7}, 7U}, {std::int64_t{1}, 1U}, {last, 1U}, {last / 1000 * 1000, 1000U}}) {
    SCOPED_TRACE("width " + std::to_string(width));
    subject p(windowed(width, slices));
    EXPECT_EQ(p.check(1, first), fresh);
    EXPECT_EQ(p.add(1, first), fresh);
    EXPECT_EQ(p.add(1, first), seen);
    EXPECT_EQ(p.check(1, first), seen);
    EXPECT_EQ(p.add(2, -1), fresh);
    EXPECT_EQ(p.add(3, last), fresh);
    EXPECT_EQ(p.add(3, last), seen);
    EXPECT_EQ(p.check(3, last), seen);
  }
}

}  // namespace
}  // namespace everseen
