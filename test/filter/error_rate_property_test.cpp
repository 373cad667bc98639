// The statistical promise: of the keys that were never added, a share of at most error_rate is reported as
// seen, over the whole filter, however far it has grown. Each test counts over fixed keys and compares with
// Chernoff's bound for a binomial distribution at the promised rate, which chance alone exceeds once in 10^9
// (test/support/binomial.hpp).

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/everseen.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/binomial.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using test::binomial_bound;
using test::binomial_floor;

constexpr std::size_t strangers = 300'000;

filter make_filter(spec_request request) {
  request.seed = hash_seed{};
  return {"f", memory_store().create("f", make_spec(request))};
}

/// Adds keys that were never added before. Returns the number of false positives.
std::uint64_t add_new(filter& f, test::random_digests& source, std::size_t n,
                      std::span<const event_time> time = {}) {
  const std::vector<digest> keys = source.take(n);
  std::vector<verdict> out(n);
  const batch_result added = f.add_digests(keys, out, time);
  EXPECT_TRUE(added);
  EXPECT_EQ(added->fresh + added->seen, n);
  const batch_result again = f.may_contain_digests(keys, out, time);
  EXPECT_EQ(again->seen, n) << "a key was forgotten";
  return added->seen;
}

void expect_strangers_within(const filter& f, double rate, std::span<const event_time> time = {}) {
  const std::vector<digest> keys = test::random_digests(0xABCDEF).take(strangers);
  std::vector<verdict> out(strangers);
  const std::uint64_t wrong = f.may_contain_digests(keys, out, time)->seen;
  EXPECT_LE(wrong, binomial_bound(strangers, rate)) << "of " << strangers << " at " << rate;
  const double estimate = f.info().error_rate_now;
  EXPECT_LE(estimate, rate);
  EXPECT_LE(wrong, binomial_bound(strangers, estimate)) << "more than the formulas predict";
  EXPECT_GE(wrong, binomial_floor(strangers, estimate)) << "fewer than the formulas predict";
}

struct promise {
  double error_rate;
  layout_kind layout;
  std::uint32_t partitions;
};

void PrintTo(const promise& p, std::ostream* out) {
  *out << p.error_rate << " " << to_string(p.layout) << " in " << p.partitions;
}

class ErrorRate : public testing::TestWithParam<promise> {};

// Promise: the rate holds at one, four and sixteen times the capacity, in every layout (guarantees, Error
// rate).
TEST_P(ErrorRate, HoldsAtOneFourAndSixteenTimesTheCapacity) {
  constexpr std::size_t capacity = 8'000;
  const promise& p = GetParam();
  filter f = make_filter(
      {.capacity = capacity, .error_rate = p.error_rate, .layout = p.layout, .partitions = p.partitions});
  test::random_digests source(42);
  std::uint64_t wrong = 0;
  std::size_t added = 0;
  for (const std::size_t times : {1U, 4U, 16U}) {
    SCOPED_TRACE(std::to_string(times) + " times the capacity");
    wrong += add_new(f, source, times * capacity - added);
    added = times * capacity;
    expect_strangers_within(f, p.error_rate);
    EXPECT_LE(wrong, binomial_bound(added, p.error_rate));
    const double expected = f.info().expected_false_seen / static_cast<double>(added);
    EXPECT_LE(wrong, binomial_bound(added, expected));
    EXPECT_GE(wrong, binomial_floor(added, expected));
  }
  EXPECT_GE(f.info().max_layers, 4U) << "it did grow";
}

std::vector<promise> promises() {
  std::vector<promise> all;
  for (const double rate : {1e-2, 1e-3, 1e-4})
    for (const layout_kind layout : all_layouts) all.push_back({rate, layout, 1});
  for (const std::uint32_t partitions : {7U, 64U}) {
    all.push_back({1e-2, layout_kind::line_8x64, partitions});
    all.push_back({1e-4, layout_kind::line_16x32, partitions});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Promises, ErrorRate, testing::ValuesIn(promises()));

class ErrorRateInAWindow : public testing::TestWithParam<promise> {};

// Promise: the live slices of a window share the rate (guarantees, Error rate).
TEST_P(ErrorRateInAWindow, HoldsOverAllLiveSlices) {
  constexpr std::uint32_t slices = 4;
  constexpr std::size_t capacity = 20'000;  // within the width, so a quarter of it in each slice
  const promise& p = GetParam();
  for (const std::size_t times : {1U, 4U}) {
    SCOPED_TRACE(std::to_string(times) + " times the capacity");
    filter f = make_filter({.capacity = capacity,
                            .error_rate = p.error_rate,
                            .layout = p.layout,
                            .window = window_spec{std::chrono::milliseconds(100 * slices), slices},
                            .partitions = p.partitions});
    test::random_digests source(43);
    std::uint64_t wrong = 0;
    std::uint64_t added = 0;
    for (int slice = 0; slice < 7; ++slice) {  // the first two expire
      const event_time time(std::chrono::milliseconds(100 * slice + 50));
      wrong += add_new(f, source, times * capacity / slices, {&time, 1});
      added += times * capacity / slices;
    }
    EXPECT_EQ(f.info().partitions.front().slices.size(), slices + 1) << "all possible slices are live";
    const event_time time(std::chrono::milliseconds(650));
    expect_strangers_within(f, p.error_rate, {&time, 1});
    EXPECT_LE(wrong, binomial_bound(added, p.error_rate));
  }
}

INSTANTIATE_TEST_SUITE_P(Promises, ErrorRateInAWindow,
                         testing::Values(promise{1e-2, layout_kind::line_8x64, 1},
                                         promise{1e-2, layout_kind::classic, 7},
                                         promise{1e-3, layout_kind::line_8x64, 7},
                                         promise{1e-4, layout_kind::line_16x32, 1}));

// Promise: a filter without growth takes its full capacity in every partition, within the rate (guarantees,
// Error rate).
TEST(ErrorRateWithoutGrowth, HoldsUpToTheCapacityInEveryPartition) {
  constexpr std::size_t capacity = 50'000;
  filter f = make_filter(
      {.capacity = capacity, .error_rate = 1e-2, .growth = growth_kind::refuse, .partitions = 16});
  test::random_digests source(44);
  add_new(f, source, capacity);  // which expects no refusal
  expect_strangers_within(f, 1e-2);
}

class OverfilledFilter : public testing::TestWithParam<promise> {};

// Keys that are called seen by mistake set no bit and are not counted, so the count alone says too little.
TEST_P(OverfilledFilter, KnowsItsErrorRateAndItsMistakes) {
  constexpr std::size_t capacity = 20'000;
  const promise& p = GetParam();
  filter f = make_filter({.capacity = capacity,
                          .error_rate = p.error_rate,
                          .layout = p.layout,
                          .growth = growth_kind::overfill,
                          .partitions = p.partitions});
  test::random_digests source(45);
  std::uint64_t wrong = 0;
  std::size_t added = 0;
  for (const std::size_t times : {2U, 5U, 10U}) {
    SCOPED_TRACE(std::to_string(times) + " times the capacity");
    wrong += add_new(f, source, times * capacity - added);
    added = times * capacity;
    const std::vector<digest> keys = test::random_digests(0xABCDEF).take(strangers);
    std::vector<verdict> out(strangers);
    const std::uint64_t measured = f.may_contain_digests(keys, out)->seen;
    const filter_info info = f.info();
    if (info.error_rate_now > 0.99) break;  // the count of fresh keys hardly changes any more
    constexpr double spread = 0.02;         // the number of set bits varies, too
    EXPECT_LE(measured, binomial_bound(strangers, info.error_rate_now + spread * (1 - info.error_rate_now)));
    EXPECT_GE(measured, binomial_floor(strangers, info.error_rate_now * (1 - spread)));
    const double expected = info.expected_false_seen;
    EXPECT_NEAR(static_cast<double>(wrong), expected, 0.05 * expected + 6 * std::sqrt(expected));
  }
  wrong += add_new(f, source, 80 * capacity - added);
  EXPECT_GT(f.info().error_rate_now, 0.99);
  EXPECT_LT(f.info().expected_false_seen, 1.1 * static_cast<double>(wrong)) << "printed as a lower bound";
}

INSTANTIATE_TEST_SUITE_P(Layouts, OverfilledFilter,
                         testing::Values(promise{1e-2, layout_kind::classic, 1},
                                         promise{1e-6, layout_kind::classic, 7},
                                         promise{1e-2, layout_kind::line_8x64, 1},
                                         promise{1e-4, layout_kind::line_16x32, 7},
                                         promise{1e-6, layout_kind::two_line_8x64, 1},
                                         promise{1e-9, layout_kind::two_line_16x32, 1}));

// A small filter varies more than a large one; its figures must not be those of another world.
// Promise: the error rate of an overfilled filter is the one that new keys meet (guarantees, Error rate).
TEST(SmallOverfilledFilter, KnowsItsErrorRateAndThatItsMistakesAreMore) {
  filter f = make_filter({.capacity = 1000, .growth = growth_kind::overfill});
  test::random_digests source(46);
  const std::vector<digest> keys = test::random_digests(0xABCDEF).take(strangers);
  std::vector<verdict> out(strangers);
  const auto measured = [&] {
    return static_cast<double>(f.may_contain_digests(keys, out)->seen) / static_cast<double>(strangers);
  };
  std::uint64_t wrong = add_new(f, source, 10'000);
  EXPECT_GT(measured(), 0.8) << "far past its capacity";
  EXPECT_NEAR(f.info().error_rate_now, measured(), 0.04);
  EXPECT_NEAR(f.info().expected_false_seen, static_cast<double>(wrong), 0.1 * static_cast<double>(wrong));
  wrong += add_new(f, source, 190'000);
  EXPECT_GT(measured(), 0.999);
  EXPECT_NEAR(f.info().error_rate_now, measured(), 0.02);
  EXPECT_LT(f.info().expected_false_seen, static_cast<double>(wrong)) << "printed as a lower bound";
  EXPECT_GT(f.info().expected_false_seen, 5'000) << "many more than are left to be fresh";
}

// Keys of one batch may be judged together, by the bits before it: then none of them is called seen.
// Promise: the error rate of an overfilled filter is the one that new keys meet (guarantees, Error rate).
TEST(SmallOverfilledFilter, KnowsItsErrorRateIfItsKeysWereJudgedTogether) {
  const test::scratch_directory directory;
  const auto store = open_store("file:" + directory.path().string());
  filter f("f", store->create("f", store->plan({.capacity = 1000, .growth = growth_kind::overfill})));
  const std::vector<digest> keys = test::random_digests(47).take(5'000);
  std::vector<verdict> out(keys.size());
  const partition_batch batch{0, keys, {}, out};
  ASSERT_TRUE(f.stored().add_after({&batch, 1}, [] { return true; }));
  const auto wrong = std::ranges::count(out, verdict::seen);
  const std::vector<digest> others = test::random_digests(0xABCDEF).take(strangers);
  std::vector<verdict> answers(strangers);
  const double measured =
      static_cast<double>(f.may_contain_digests(others, answers)->seen) / static_cast<double>(strangers);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(measured, 0.2);
  EXPECT_NEAR(f.info().error_rate_now, measured, 0.03);
  EXPECT_LT(f.info().expected_false_seen, 300) << "the number of set bits varies by as much";
}

}  // namespace
}  // namespace everseen
