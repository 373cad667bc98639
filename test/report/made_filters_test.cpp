#include <gtest/gtest.h>

#include "everseen/report/planning.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen {
namespace {

const spec_request ten_million = {.capacity = 10'000'000, .error_rate = 1e-6};

TEST(MadeFilters, OnAnyRedisAreJudgedByServersWithTheModuleOrByClients) {
  const auto all = filters_made_on_redis(ten_million, false);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].properties.judge, judge_kind::server);
  EXPECT_EQ(all[1].properties.judge, judge_kind::client);
  EXPECT_EQ(all[0].properties.layout, all[1].properties.layout);
  EXPECT_NEAR(all[0].bits_per_key(), 8.0 * static_cast<double>(all[0].bytes()) / 1e7, 1e-9);
}

TEST(MadeFilters, WithTheModuleAreThoseOfTheModuleAlone) {
  const auto all = filters_made_on_redis(ten_million, true);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].properties.judge, judge_kind::server);
}

TEST(MadeFilters, AreThoseOfTheJudgeThatWasAskedFor) {
  spec_request by_clients = ten_million;
  by_clients.judge = judge_kind::client;
  for (const bool module : {false, true}) {
    const auto all = filters_made_on_redis(by_clients, module);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].properties.judge, judge_kind::client);
  }
}

TEST(MadeFilters, OfALocalStoreMatchTheStoresOwnPlan) {
  const memory_store place;
  const auto all = filters_made_on(place, ten_million);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].properties.layout, place.plan(ten_million).layout);
}

}  // namespace
}  // namespace everseen
