#include "everseen/report/made_filters.hpp"

#include <gtest/gtest.h>

#include "everseen/store/memory/memory_store.hpp"

namespace everseen {
namespace {

const spec_request ten_million = {.capacity = 10'000'000, .error_rate = 1e-6};

TEST(MadeFilters, OnAPlainRedisHaveFewProbesInMoreMemory) {
  const auto all = filters_made_on_redis(ten_million, std::nullopt);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].of.layout, layout_kind::classic);
  EXPECT_EQ(all[0].of.judge, judge_kind::server);
  EXPECT_EQ(all[2].of.judge, judge_kind::client);
  EXPECT_NE(all[2].of.layout, layout_kind::classic);
  EXPECT_GT(all[0].bytes(), all[2].bytes() * 14 / 10);
  EXPECT_NEAR(all[0].bits_per_key(), 8.0 * static_cast<double>(all[0].bytes()) / 1e7, 1e-9);
}

TEST(MadeFilters, WithTheModuleAreThoseOfTheModuleAlone) {
  const auto all = filters_made_on_redis(ten_million, true);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all[0].of.layout, layout_kind::classic);
  EXPECT_EQ(filters_made_on_redis(ten_million, false).size(), 2U);
}

TEST(MadeFilters, OfALocalStoreMatchTheStoresOwnPlan) {
  const memory_store place;
  const auto all = filters_made_on(place, ten_million);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].of.layout, place.plan(ten_million).layout);
}

}  // namespace
}  // namespace everseen
