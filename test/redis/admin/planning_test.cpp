#include "everseen/redis/admin/planning.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen::redis {
namespace {

const redis_url one_server = parse_redis_url("redis://h");

spec_request of(std::uint64_t capacity, judge_kind judge) {
  return {.capacity = capacity, .error_rate = 1e-6, .judge = judge};
}

TEST(PlanForRedis, HasTheLayoutOfMemory) {
  for (const judge_kind judge : {judge_kind::server, judge_kind::client}) {
    const spec_request asked = of(1'000'000, judge);
    EXPECT_EQ(plan_for_redis(one_server, asked).layout, make_spec(asked).layout);
    EXPECT_EQ(plan_for_redis(one_server, asked).judge, judge);
  }
}

TEST(PlanForRedis, LetsAPartitionGrowThreeTimesBeforeItsDumpIsTooLong) {
  EXPECT_EQ(plan_for_redis(one_server, of(1'000'000, judge_kind::server)).partitions, 1U);
  const spec large = plan_for_redis(one_server, of(1'000'000'000, judge_kind::server));
  EXPECT_GT(large.partitions, 64U);
  std::uint64_t bytes = 0;
  for (unsigned layer = 0; layer < 4; ++layer) bytes += growth::plan_layer(large, layer).shape.bytes;
  EXPECT_LT(bytes, std::uint64_t{512} << 20);
}

TEST(PlanForRedis, LoadsSeveralServersEqually) {
  const redis_url three = parse_redis_url("redis://a,b,c");
  for (const judge_kind judge : {judge_kind::server, judge_kind::client})
    EXPECT_EQ(plan_for_redis(three, of(1000, judge)).partitions, 64U);
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

TEST(PlanForRedis, LimitsASegmentOfClientsToAStringOfRedis) {
  spec_request asked = of(1'000'000'000, judge_kind::client);
  asked.partitions = 1;
  EXPECT_THROW((void)plan_for_redis(one_server, asked), parameter_error);
  asked.judge = judge_kind::server;
  EXPECT_GT(growth::plan_layer(plan_for_redis(one_server, asked), 0).shape.bytes, std::uint64_t{512} << 20);
}

}  // namespace
}  // namespace everseen::redis
