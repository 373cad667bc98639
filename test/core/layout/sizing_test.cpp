#include "everseen/core/layout/sizing.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/core/layout/shapes.hpp"

namespace everseen {
namespace {

using test::shape_of;

constexpr double rates[] = {0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-9, 1e-12, 1e-15, 1e-20, 1e-30};

/// One line's rate, summed term by term from the definition, with logarithms of factorials.
long double slow_line_rate(unsigned words, long double mean) {
  const long double width = static_cast<long double>(line_bits) / words;
  long double sum = 0;
  for (int i = 1; i < 3000; ++i) {
    const long double poisson =
        std::exp(i * std::log(mean) - mean - std::lgamma(static_cast<long double>(i) + 1));
    sum += poisson * std::pow(-std::expm1(i * std::log1p(-1 / width)), static_cast<long double>(words));
  }
  return sum;
}

TEST(Sizing, ClassicFollowsTheTextbookFormulaWhereOnlyTheRatioCounts) {
  for (const unsigned k : {1U, 3U, 7U, 16U, 64U}) {
    for (const double c : {1.0, 5.0, 9.6, 50.0, 1000.0}) {
      const double textbook = std::pow(1 - std::exp(-static_cast<double>(k) / c), k);
      EXPECT_NEAR(sizing::error_rate(layout_kind::classic, k, c) / textbook, 1, 1e-9);
      const geometry large = shape_of(layout_kind::classic, std::uint64_t{1} << 40, k);
      EXPECT_NEAR(sizing::error_rate(large, static_cast<double>(large.bits()) / c) / textbook, 1, 1e-9);
    }
  }
}

TEST(Sizing, LinesFollowTheSumOfTheirDefinition) {
  for (const double c : {0.5, 2.0, 8.0, 20.0, 60.0, 500.0, 1e6}) {
    const auto one_8x64 = slow_line_rate(8, line_bits / c), one_16x32 = slow_line_rate(16, line_bits / c);
    const auto two_8x64 = slow_line_rate(8, 2 * line_bits / c),
               two_16x32 = slow_line_rate(16, 2 * line_bits / c);
    EXPECT_NEAR(sizing::error_rate(layout_kind::line_8x64, 0, c) / static_cast<double>(one_8x64), 1, 1e-11);
    EXPECT_NEAR(sizing::error_rate(layout_kind::line_16x32, 0, c) / static_cast<double>(one_16x32), 1, 1e-11);
    EXPECT_NEAR(
        sizing::error_rate(layout_kind::two_line_8x64, 0, c) / static_cast<double>(two_8x64 * two_8x64), 1,
        1e-11);
    EXPECT_NEAR(
        sizing::error_rate(layout_kind::two_line_16x32, 0, c) / static_cast<double>(two_16x32 * two_16x32), 1,
        1e-11);
  }
}

TEST(Sizing, EmptySegmentNeverErrsAndOverflowingSegmentAlwaysDoes) {
  for (const layout_kind layout : all_layouts) {
    const geometry shape = shape_of(layout, 6400);
    EXPECT_EQ(sizing::error_rate(shape, 0), 0);
    EXPECT_EQ(sizing::error_rate(shape, 1e12), 1);
    EXPECT_EQ(sizing::error_rate(layout, 7, 1e-9), 1);
  }
}

TEST(Sizing, RatesRiseWithKeysAndFallWithSize) {
  for (const layout_kind layout : all_layouts) {
    double before = 0;
    for (double keys = 0.25; keys < 1e5; keys *= 1.1) {
      const double rate = sizing::error_rate(shape_of(layout, 6400), keys);
      EXPECT_GE(rate, before * (1 - 1e-12)) << to_string(layout) << ' ' << keys;
      before = rate;
    }
    for (std::uint64_t lines = 1; lines < 3000; lines += 1 + lines / 8) {
      const double smaller = sizing::error_rate(shape_of(layout, lines * line_bytes), 500);
      EXPECT_LE(sizing::error_rate(shape_of(layout, (lines + 1) * line_bytes), 500), smaller)
          << to_string(layout);
    }
  }
}

TEST(Sizing, RateOfAGrowingSegmentTendsToItsLimit) {
  // The rate of a segment of a given load tends to the rate by bits per key.
  for (const layout_kind layout : all_layouts) {
    const double limit = sizing::error_rate(layout, 7, 16);
    const geometry shape = shape_of(layout, std::uint64_t{1} << 32);
    EXPECT_NEAR(sizing::error_rate(shape, static_cast<double>(shape.bits()) / 16) / limit, 1, 1e-5);
  }
}

TEST(Sizing, AccountsForTheVarianceOfSetBitsInSmallClassicSegments) {
  // Exactly: the distribution of the number of set bits after kn throws, and the mean of its k-th power. In
  // 512 bits the textbook formula is 12 % too low at 20 probes and 1e-6; the correction leaves less than 1 %.
  const auto exact = [](unsigned bits, unsigned probes, unsigned keys) {
    std::vector<double> set(bits + 1);
    set[0] = 1;
    for (unsigned i = 0; i < probes * keys; ++i) {
      for (unsigned j = bits; j > 0; --j) set[j] = set[j] * j / bits + set[j - 1] * (bits - j + 1) / bits;
      set[0] = 0;
    }
    double rate = 0;
    for (unsigned j = 1; j <= bits; ++j) rate += set[j] * std::pow(static_cast<double>(j) / bits, probes);
    return rate;
  };
  for (const unsigned probes : {1U, 2U, 7U, 13U, 20U}) {
    for (const unsigned keys : {5U, 18U, 50U}) {
      const double truth = exact(512, probes, keys);
      const double computed = sizing::error_rate(shape_of(layout_kind::classic, 64, probes), keys);
      EXPECT_NEAR(computed / truth, 1, 0.01) << probes << " probes, " << keys << " keys";
    }
  }
}

TEST(Sizing, AccountsForKeysWhoseTwoLinesAreTheSame) {
  // In a segment of one line they always are. A new key then tests two bits in each word; with a probability
  // of 1/64 they are the same bit.
  const double hit = 1.0 / 64;
  for (const int keys : {1, 3, 10, 40}) {
    const double one = 1 - std::pow(1 - hit, 2 * keys);
    const double two = 1 - 2 * std::pow(1 - hit, 2 * keys) + std::pow(1 - 2 * hit, 2 * keys);
    const double rate = std::pow(hit * one + (1 - hit) * two, 8);
    EXPECT_NEAR(sizing::error_rate(shape_of(layout_kind::two_line_8x64, 64), keys) / rate, 1, 1e-9);
  }
  // The increase, less what a finite segment saves: a half at 1e-12 in 100 lines, a hundredth at 1e-9 in
  // 1,000.
  const auto excess = [](std::uint64_t lines, double rate) {
    const geometry shape = shape_of(layout_kind::two_line_16x32, lines * line_bytes);
    const double keys = static_cast<double>(shape.bits()) / sizing::bits_per_key(shape.layout, 0, rate);
    return sizing::error_rate(shape, std::floor(keys)) / rate;
  };
  EXPECT_NEAR(excess(100, 1e-12), 1.45, 0.05);
  EXPECT_NEAR(excess(1'000, 1e-9), 1.01, 0.005);
}

TEST(Sizing, BitsPerKeyIsTheInverseOfTheRate) {
  for (const layout_kind layout : all_layouts) {
    for (const double rate : rates) {
      const unsigned probes = probes_of(layout, sizing::best_probes(rate));
      const double c = sizing::bits_per_key(layout, probes, rate);
      EXPECT_NEAR(sizing::error_rate(layout, probes, c) / rate, 1, 1e-9) << to_string(layout) << ' ' << rate;
    }
  }
}

TEST(Sizing, ClassicReachesTheRatesOfLateLayersWithItsFixedProbes) {
  for (const unsigned probes : {1U, 3U, 7U, 16U}) {
    double before = 0;
    for (const double rate : {1e-2, 1e-4, 1e-9, 1e-30}) {
      const double c = sizing::bits_per_key(layout_kind::classic, probes, rate);
      EXPECT_NEAR(c * -std::log1p(-std::pow(rate, 1.0 / probes)) / probes, 1, 1e-12);
      EXPECT_GT(c, before);
      before = c;
    }
  }
}

TEST(Sizing, NoOtherNumberOfProbesNeedsFewerBits) {
  for (double rate = 0.5; rate > 1e-15; rate *= 0.83) {
    const double best = sizing::bits_per_key(layout_kind::classic, 0, rate);
    for (unsigned probes = 1; probes <= max_probes; ++probes)
      EXPECT_LE(best, sizing::bits_per_key(layout_kind::classic, probes, rate)) << rate << ' ' << probes;
  }
  EXPECT_EQ(sizing::best_probes(0.01), 7U);
  EXPECT_EQ(sizing::best_probes(0.9), 1U);
  EXPECT_EQ(sizing::best_probes(1e-30), max_probes);
}

TEST(Sizing, SmallestSegmentHoldsItsCapacityAndOneLineLessDoesNot) {
  for (const layout_kind layout : all_layouts) {
    for (const double rate : rates) {
      for (const std::uint64_t keys : {1ULL, 2ULL, 17ULL, 1'000ULL, 123'456ULL, 1'000'000'000ULL}) {
        if (sizing::bits_per_key(layout, 0, rate) * static_cast<double>(keys) > 0x1p61) continue;
        geometry shape = sizing::smallest(layout, 0, {keys, rate});
        EXPECT_LE(sizing::error_rate(shape, static_cast<double>(keys)), rate) << to_string(layout);
        EXPECT_GE(sizing::capacity(shape, rate), keys) << to_string(layout) << ' ' << rate;
        if (shape.lines() == 1) continue;
        shape.bytes -= line_bytes;
        EXPECT_GT(sizing::error_rate(shape, static_cast<double>(keys)), rate)
            << to_string(layout) << ' ' << rate;
        EXPECT_LT(sizing::capacity(shape, rate), keys) << to_string(layout) << ' ' << rate;
      }
    }
  }
}

TEST(Sizing, RefusesAnOversizedSegmentInsteadOfWrappingAround) {
  const auto smallest = [](layout_kind layout, std::uint64_t keys, double rate) {
    static_cast<void>(sizing::smallest(layout, 0, {keys, rate}));
  };
  EXPECT_THROW(smallest(layout_kind::line_8x64, 1'000, 1e-30), parameter_error);
  EXPECT_THROW(smallest(layout_kind::classic, std::numeric_limits<std::uint64_t>::max(), 1e-6),
               parameter_error);
  EXPECT_NO_THROW(smallest(layout_kind::two_line_16x32, std::uint64_t{1} << 48, 1e-15));
}

TEST(Sizing, EstimatesKeysFromTheExpectedNumberOfSetBits) {
  for (const layout_kind layout : all_layouts) {
    const geometry shape = shape_of(layout, 64'000);
    const double bits = static_cast<double>(shape.bits());
    const double draws = layout == layout_kind::classic ? 7 : lines_per_key(layout);
    const double hit = layout == layout_kind::classic ? 1 / bits : words_per_line(layout) / bits;
    for (const double keys : {1.0, 100.0, 20'000.0, 100'000.0}) {
      const double set = bits * (1 - std::pow(1 - hit, draws * keys));
      // Rounding loses half a bit.
      EXPECT_NEAR(sizing::keys_from_set_bits(shape, std::llround(set)), keys, 1 + 1e-4 * keys)
          << to_string(layout);
    }
    EXPECT_EQ(sizing::keys_from_set_bits(shape, 0), 0);
    EXPECT_TRUE(std::isinf(sizing::keys_from_set_bits(shape, shape.bits())));
  }
}

TEST(Sizing, ExpectedFalsePositivesAreTheSumOfTheRatesWhileASegmentFills) {
  for (const layout_kind layout : all_layouts) {
    const geometry shape = sizing::smallest(layout, 0, {1'500, 1e-3});
    for (const sizing::key_range range : {sizing::key_range{0, 1'500}, {600, 1'500}, {0, 15'000}, {0, 0}}) {
      double sum = 0;  // by the trapezoidal rule, one key a step
      for (double n = range.from; n < range.until; ++n)
        sum += (sizing::error_rate(shape, n) + sizing::error_rate(shape, n + 1)) / 2;
      EXPECT_NEAR(sizing::expected_false_positives(shape, range), sum, 1e-5 * sum) << to_string(layout);
    }
  }
}

TEST(Sizing, PlannerUsesMoreWordsAndLinesForLowerRates) {
  EXPECT_EQ(sizing::choose_layout(0.5), layout_kind::line_8x64);
  EXPECT_EQ(sizing::choose_layout(1e-3), layout_kind::line_8x64);
  EXPECT_EQ(sizing::choose_layout(0.9e-3), layout_kind::line_16x32);
  EXPECT_EQ(sizing::choose_layout(1e-5), layout_kind::line_16x32);
  EXPECT_EQ(sizing::choose_layout(1e-6), layout_kind::two_line_8x64);
  EXPECT_EQ(sizing::choose_layout(1e-8), layout_kind::two_line_8x64);
  EXPECT_EQ(sizing::choose_layout(1e-9), layout_kind::two_line_16x32);
}

}  // namespace
}  // namespace everseen
