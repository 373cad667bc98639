#include "everseen/core/spec/growth.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;

spec filter(spec_request request) {
  request.seed = hash_seed{};
  return make_spec(request);
}

TEST(Growth, RatesOfAllLayersStayBelowTheBudgetAtEveryDepth) {
  for (const layout_kind layout : {layout_kind::classic, layout_kind::two_line_16x32}) {
    for (const double rate : {0.1, 1e-3, 1e-6, 1e-12}) {
      const spec s = filter({.capacity = 100, .error_rate = rate, .layout = layout});
      double sum = 0;
      for (unsigned i = 0; i < 30; ++i) {
        sum += growth::plan_layer(s, i).error_rate;
        EXPECT_LT(sum, rate) << "layers " << i + 1;
      }
      EXPECT_NEAR(sum / rate, 1, 1e-8);
    }
  }
}

TEST(Growth, EveryLayerHoldsTwiceTheKeysAtHalfTheRate) {
  const spec s = filter({.capacity = 1'000, .error_rate = 1e-4});
  growth::layer_plan before = growth::plan_layer(s, 0);
  EXPECT_EQ(before.capacity, 1'000U);
  EXPECT_EQ(before.error_rate, 0.5e-4);
  for (unsigned i = 1; i < 20; ++i) {
    const growth::layer_plan next = growth::plan_layer(s, i);
    EXPECT_EQ(next.capacity, 2 * before.capacity);
    EXPECT_EQ(next.error_rate, before.error_rate / 2);
    EXPECT_GT(next.shape.bytes, before.shape.bytes);
    before = next;
  }
}

TEST(Growth, OfRedisBloomMultipliesTheKeysByItsExpansion) {
  const spec s =
      filter({.capacity = 100, .error_rate = 0.01, .layout = layout_kind::redisbloom, .expansion = 3});
  for (unsigned i = 0; i < 10; ++i) {
    const growth::layer_plan plan = growth::plan_layer(s, i);
    EXPECT_EQ(plan.capacity, 100 * static_cast<std::uint64_t>(std::pow(3, i)));
    EXPECT_EQ(plan.error_rate, std::ldexp(0.01, -static_cast<int>(i) - 1));
    EXPECT_EQ(plan.shape.probes, 8 + i);
    EXPECT_TRUE(growth::can_have(s, i, plan.capacity));
    EXPECT_FALSE(growth::can_have(s, i, plan.capacity + 1));
  }
  EXPECT_THROW((void)growth::plan_layer(s, growth::max_layers), full_error);
}

TEST(Growth, OfRedisBloomContinuesFarPastTheLayersOfOurOwn) {
  const spec s =
      filter({.capacity = 10, .error_rate = 0.4, .layout = layout_kind::redisbloom, .expansion = 1});
  const growth::layer_plan late = growth::plan_layer(s, 55);
  EXPECT_EQ(late.capacity, 10U);
  EXPECT_EQ(late.shape.probes, 58U);  // 3, and one more with each
  EXPECT_TRUE(growth::can_have(s, 55, 10));
}

TEST(Growth, OfRedisBloomContinuesUntilHalfOfItsRateUnderflows) {
  for (const double rate : {0.9, 0.01, 1e-15}) {
    const spec s =
        filter({.capacity = 3, .error_rate = rate, .layout = layout_kind::redisbloom, .expansion = 1});
    unsigned layers = 0;
    unsigned probes = 0;
    for (double of_layer = rate / 2; of_layer > 0; of_layer /= 2) {
      const growth::layer_plan plan = growth::plan_layer(s, layers++);
      EXPECT_EQ(plan.error_rate, of_layer);
      EXPECT_EQ(plan.capacity, 3U);
      EXPECT_GE(plan.shape.probes, probes);
      probes = plan.shape.probes;
    }
    EXPECT_GE(layers, 1'024U);
    EXPECT_LE(layers, growth::max_layers);
    EXPECT_GE(probes, 1'074U);
    EXPECT_LE(probes, max_layer_probes);
    EXPECT_TRUE(growth::can_have(s, layers - 1, 3));
    EXPECT_FALSE(growth::can_have(s, layers, 1));
    EXPECT_THROW((void)growth::plan_layer(s, layers), full_error);
  }
}

TEST(Growth, OfRedisBloomEndsWhereALayerWouldNeedTooManyBits) {
  const spec vast = filter(
      {.capacity = 1 << 20, .error_rate = 0.01, .layout = layout_kind::redisbloom, .expansion = 32'768});
  EXPECT_NO_THROW((void)growth::plan_layer(vast, 2));
  EXPECT_THROW((void)growth::plan_layer(vast, 3), full_error);
}

TEST(Growth, DoesNotExistForGuava) {
  const spec s = filter({.capacity = 100, .error_rate = 0.01, .layout = layout_kind::guava64});
  EXPECT_EQ(growth::plan_layer(s, 0).shape.bytes, s.foreign.first_bytes);
  EXPECT_THROW((void)growth::plan_layer(s, 1), full_error);
}

TEST(Growth, EveryLayerIsTheSmallestSegmentThatKeepsItsRate) {
  for (const layout_kind layout : all_layouts) {
    const spec s = filter({.capacity = 5'000, .error_rate = 1e-2, .layout = layout});
    for (unsigned i = 0; i < 12; ++i) {
      const growth::layer_plan plan = growth::plan_layer(s, i);
      EXPECT_EQ(plan.shape, sizing::smallest(layout, s.probes, {plan.capacity, plan.error_rate}));
      EXPECT_EQ(plan.shape.probes, s.probes);
      EXPECT_LE(sizing::error_rate(plan.shape, static_cast<double>(plan.capacity)), plan.error_rate);
    }
  }
}

TEST(Growth, FilterWithoutGrowthUsesItsWholeBudgetImmediately) {
  for (const growth_kind kind : {growth_kind::refuse, growth_kind::overfill}) {
    const growth::layer_plan plan =
        growth::plan_layer(filter({.capacity = 1'000, .error_rate = 1e-4, .growth = kind}), 0);
    EXPECT_EQ(plan.error_rate, 1e-4);
    EXPECT_EQ(plan.capacity, 1'000U);
  }
}

TEST(Growth, SlicesOfAWindowShareTheBudgetAndTheCapacity) {
  const spec s =
      filter({.capacity = 1'000, .error_rate = 1.1e-3, .window = window_spec{10s, 10}, .partitions = 1});
  EXPECT_DOUBLE_EQ(growth::slice_budget(s), 1e-4);  // 11 slices are live at a time
  EXPECT_EQ(growth::first_capacity(s), 100U);
  EXPECT_EQ(growth::slice_budget(filter({.error_rate = 1e-3})), 1e-3);
}

TEST(Growth, PartitionHasRoomForFiveStandardDeviationsMoreThanItsShare) {
  const spec s = filter({.capacity = 6'400, .partitions = 64});
  EXPECT_EQ(growth::first_capacity(s), 150U);  // 100 + 5 * 10
  EXPECT_EQ(growth::first_capacity(filter({.capacity = 10, .partitions = 64})), 3U);
  EXPECT_GE(growth::first_capacity(filter({.capacity = 1, .partitions = 65'536})), 1U);
}

TEST(Growth, RefusesALayerAfterTheLast) {
  const spec s = filter({.capacity = 1, .error_rate = 1e-3, .layout = layout_kind::classic});
  EXPECT_NO_THROW(static_cast<void>(growth::plan_layer(s, growth::max_own_layers - 1)));
  EXPECT_THROW(static_cast<void>(growth::plan_layer(s, growth::max_own_layers)), full_error);
  EXPECT_FALSE(growth::can_have(s, growth::max_own_layers, 1));
}

TEST(Growth, RefusesALayerWhoseCapacityWouldWrapAround) {
  const spec s = filter({.capacity = max_capacity, .layout = layout_kind::classic, .partitions = 1});
  for (unsigned i = 0; i < growth::max_layers; ++i) {
    try {
      EXPECT_EQ(growth::plan_layer(s, i).capacity, std::ldexp(max_capacity, static_cast<int>(i)));
    } catch (const full_error&) {
      EXPECT_GE(i, 8U);  // 2^48 keys of 29 bits leave 9 doublings below 2^62 bits
    }
  }
  EXPECT_THROW(static_cast<void>(growth::plan_layer(s, 16)), full_error);
}

TEST(Growth, ClassicFilterPaysForLateLayersBecauseItsProbesAreFixed) {
  // Seven probes are optimal at 1e-2. Ten doublings later they cost 1.4 times the optimum, and twenty
  // doublings later 2.6 times: doc/hashing.md, "Growth".
  const spec s = filter({.capacity = 1'000, .error_rate = 1e-2, .layout = layout_kind::classic});
  const auto waste = [&](unsigned index) {
    const growth::layer_plan plan = growth::plan_layer(s, index);
    const double best = sizing::bits_per_key(layout_kind::classic, 0, plan.error_rate);
    return static_cast<double>(plan.shape.bits()) / static_cast<double>(plan.capacity) / best;
  };
  EXPECT_NEAR(waste(0), 1.02, 0.01);
  EXPECT_NEAR(waste(10), 1.44, 0.02);
  EXPECT_NEAR(waste(20), 2.62, 0.02);
}

TEST(Growth, RefusesALayerOfMoreBitsThanAnyMachineHas) {
  // One line of 8x64 cannot tell 2^39 keys apart at 1e-12: it would need more than 2^62 bits.
  const spec s = filter({.capacity = 1'000'000, .error_rate = 1e-9, .layout = layout_kind::line_8x64});
  EXPECT_THROW(static_cast<void>(growth::plan_layer(s, 39)), full_error);
}

}  // namespace
}  // namespace everseen
