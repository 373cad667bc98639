// How clients find the module, server by server.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/module_server.hpp"

namespace everseen::redis_module {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;

TEST(ModuleGear, IsFoundByItself) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100, .partitions = 1}));
  const auto keys = random_digests(3).take(1000);
  EXPECT_EQ(add_keys(*filter, keys).result->unknown, 0U);
  EXPECT_EQ(check_keys(*filter, keys).result->seen, 1000U);
  EXPECT_EQ(filter->way(), "redis, module");
  EXPECT_EQ(calls_of(server, "evalsha"), "0");
}

TEST(ModuleGear, IsNotUsedByWhoAsksForAnother) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url("?gear=script")));
  const auto filter = store.create("f", store.plan({.capacity = 100}));
  ASSERT_TRUE(add_keys(*filter, random_digests(3).take(10)).result);
  EXPECT_EQ(calls_of(server, "everseen.add"), "0");
}

TEST(ModuleGear, IsAnErrorForWhoForcesItWhereThereIsNone) {
  const redis_server server;
  redis::redis_store store(redis::parse_redis_url(server.url("?gear=module")));
  const auto filter = store.create("f", store.plan({.capacity = 100}));
  const auto got = add_keys(*filter, random_digests(3).take(10));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, testing::HasSubstr("unknown command"));
}

TEST(ModuleGear, ServesThoseOfManyServersThatHaveIt) {
  const redis_server with(test::with_module()), without;
  redis::redis_store store(redis::parse_redis_url("redis://" + with.address() + "," + without.address()));
  const auto filter = store.create("f", store.plan({.capacity = 1000, .error_rate = 1e-9, .partitions = 4}));
  EXPECT_EQ(filter->get_spec().layout, layout_kind::classic) << "one of them tests bits by commands";
  const auto keys = random_digests(3).take(3000);
  EXPECT_EQ(add_keys(*filter, keys).result->fresh, 3000U);
  EXPECT_EQ(add_keys(*filter, keys).result->seen, 3000U);
  EXPECT_NE(calls_of(with, "everseen.add"), "0");
  EXPECT_EQ(calls_of(with, "evalsha"), "0");
  EXPECT_NE(calls_of(without, "evalsha"), "0");
}

TEST(ModuleGear, LetsFiltersBeLaidOutForMemory) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  EXPECT_EQ(store.plan({.error_rate = 1e-2}).layout, layout_kind::line_8x64);
  EXPECT_EQ(store.plan({.error_rate = 1e-2, .layout = layout_kind::classic}).layout, layout_kind::classic);
  const redis_server plain;
  EXPECT_EQ(redis::redis_store(redis::parse_redis_url(plain.url())).plan({.error_rate = 1e-2}).layout,
            layout_kind::classic);
}

TEST(ModuleGear, JudgesAtTheEndsOfTimeAsScriptsDo) {
  const redis_server server(test::with_module());
  const auto keys = random_digests(3).take(10);
  std::vector<std::vector<verdict>> said;
  for (const std::string gear : {"script", "module"}) {
    redis::redis_store store(redis::parse_redis_url(server.url("?gear=" + gear)));
    const auto filter = store.create(gear, store.plan({.capacity = 100,
                                                       .error_rate = 1e-12,
                                                       .window = window_spec{std::chrono::minutes(10), 10}}));
    for (const event_time when : {event_time::min(), event_time::min(), event_time(), event_time::min(),
                                  event_time::max(), event_time::max(), event_time()}) {
      said.push_back(add_keys(*filter, keys, when).verdicts);
      said.push_back(check_keys(*filter, keys, when).verdicts);
    }
  }
  const auto half = said.begin() + static_cast<std::ptrdiff_t>(said.size() / 2);
  EXPECT_TRUE(std::equal(said.begin(), half, half, said.end()));
  EXPECT_EQ(said[0], std::vector(10, verdict::fresh));
  EXPECT_EQ(said[2], std::vector(10, verdict::seen));
  EXPECT_EQ(said[6], std::vector(10, verdict::late));
}

TEST(ModuleGear, GoesOnByScriptsWhenTheModuleHasGone) {
  std::vector<std::string> config = joined({"--enable-module-command", "yes"}, test::with_module());
  const redis_server server(config);
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100, .error_rate = 1e-9, .partitions = 1}));
  random_digests random(3);
  const auto first = random.take(500);
  EXPECT_EQ(add_keys(*filter, first).result->fresh, 500U);
  ASSERT_EQ(server.run({"MODULE", "UNLOAD", "everseen"}), "OK");
  EXPECT_EQ(add_keys(*filter, first).result->seen, 500U);
  const auto second = random.take(500);
  EXPECT_EQ(add_keys(*filter, second).result->fresh, 500U);
  EXPECT_EQ(filter->way(), "redis, script");
  EXPECT_EQ(check_keys(*filter, second).result->seen, 500U);
}

TEST(ModuleGear, IsNoticedWhenItIsLoadedLater) {
  const redis_server server(std::vector<std::string>{"--enable-module-command", "yes"});
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter =
      store.create("f", store.plan({.capacity = 100'000, .error_rate = 1e-12, .partitions = 4}));
  random_digests random(3);
  std::vector<digest> all;
  const auto add_some = [&] {
    const auto some = random.take(100);
    all.insert(all.end(), some.begin(), some.end());
    EXPECT_EQ(add_keys(*filter, some).result->fresh, 100U);
    return filter->way();
  };
  EXPECT_EQ(add_some(), "redis, script");
  ASSERT_EQ(server.run({"MODULE", "LOAD", test::with_module().back()}), "OK");
  test::wait_until([&] { return add_some() == "redis, module"; }, "the module is noticed");
  EXPECT_EQ(check_keys(*filter, all).result->seen, all.size());
}

TEST(ModuleGear, IsLookedForOnceASecondAndNotWithEachBatch) {
  const redis_server server;
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100'000, .partitions = 1}));
  random_digests random(3);
  const auto begin = std::chrono::steady_clock::now();
  for (int batch = 0; batch < 200; ++batch) ASSERT_TRUE(add_keys(*filter, random.take(10)).result);
  const auto seconds = (std::chrono::steady_clock::now() - begin) / std::chrono::seconds(1);
  // One more where the segment was made.
  EXPECT_LE(std::stol(calls_of(server, "command|info")), 2 + seconds + 1);
}

}  // namespace
}  // namespace everseen::redis_module
