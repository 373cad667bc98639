#include "everseen/redis/admin/planning.hpp"

#include <gtest/gtest.h>

#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen::redis {
namespace {

const redis_url one_server = parse_redis_url("redis://h");

spec plan(double error_rate, growth_kind growth = growth_kind::grow) {
  return plan_for_redis(one_server, {.capacity = 1'000'000, .error_rate = error_rate, .growth = growth});
}

/// Ratio of a layer's bits to the fewest that its rate needs.
double memory_of_layer(const spec& s, unsigned layer) {
  const growth::layer_plan planned = growth::plan_layer(s, layer);
  return sizing::bits_per_key(layout_kind::classic, s.probes, planned.error_rate) /
         sizing::bits_per_key(layout_kind::classic, 0, planned.error_rate);
}

TEST(PlanForRedis, UsesTheFewestProbesThatTwiceTheMemoryAllows) {
  for (const double rate : {0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12}) {
    spec s = plan(rate);
    EXPECT_EQ(s.layout, layout_kind::classic);
    EXPECT_LE(memory_of_layer(s, 0), 2) << rate;
    if (s.probes == 1) continue;
    --s.probes;
    EXPECT_GT(memory_of_layer(s, 0), 2) << rate;
  }
}

TEST(PlanForRedis, NeedsFewProbesForUsualRates) {
  EXPECT_EQ(plan(1e-2).probes, 3);
  EXPECT_EQ(plan(1e-4).probes, 5);
  EXPECT_EQ(plan(1e-6).probes, 7);
  EXPECT_EQ(plan(1e-6, growth_kind::refuse).probes, 6) << "no part of the rate is kept for later layers";
}

TEST(PlanForRedis, StaysNearTwiceTheMemoryThroughThreeDoublings) {
  for (const double rate : {1e-2, 1e-4, 1e-6, 1e-9}) EXPECT_LE(memory_of_layer(plan(rate), 3), 2.3) << rate;
}

TEST(PlanForRedis, KeepsTheSettingsOfTheRequest) {
  const spec s =
      plan_for_redis(one_server, {.capacity = 1000, .layout = layout_kind::line_8x64, .partitions = 3});
  EXPECT_EQ(s.layout, layout_kind::line_8x64);
  EXPECT_EQ(s.partitions, 3U);
  EXPECT_EQ(
      plan_for_redis(one_server, {.capacity = 1000, .layout = layout_kind::classic, .probes = 11}).probes,
      11);
}

}  // namespace
}  // namespace everseen::redis
