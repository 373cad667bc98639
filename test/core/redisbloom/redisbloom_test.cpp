#include "everseen/core/redisbloom/redisbloom.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"

#include "test/support/model/redisbloom_chain.hpp"

namespace everseen::redisbloom {
namespace {

TEST(RedisBloomChain, StartsAtHalfOfItsRateWhenItMayGrow) {
  const chain made = chain::reserve({0.01, 1000, 2, true});
  EXPECT_EQ(made.layers.front().error_rate, 0.005);
  EXPECT_EQ(made.layers.front().bits.size(), 1384U);
  EXPECT_EQ(made.layers.front().probes, 8U);
}

TEST(RedisBloomChain, HasItsWholeRateWhenItMayNotGrow) {
  const chain made = chain::reserve({0.01, 1000, 2, false});
  EXPECT_EQ(made.layers.front().error_rate, 0.01);
  EXPECT_FALSE(made.grows());
}

TEST(RedisBloomChain, GrowsByItsExpansionAtHalfTheRate) {
  chain c = chain::reserve({0.01, 50, 3, true});
  for (int i = 0; i < 500; ++i) c.add(std::to_string(i));
  ASSERT_EQ(c.layers.size(), 3U);
  EXPECT_EQ(c.layers[1].capacity, 150U);
  EXPECT_EQ(c.layers[2].capacity, 450U);
  EXPECT_EQ(c.layers[2].error_rate, c.layers[0].error_rate / 4);
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(c.may_contain(std::to_string(i)));
  EXPECT_EQ(c.keys, c.layers[0].keys + c.layers[1].keys + c.layers[2].keys);
}

TEST(RedisBloomChain, ReportsThatItIsFull) {
  chain c = chain::reserve({0.01, 10, 2, false});
  int added = 0;
  for (int i = 0; c.keys < 10; ++i) added += c.add(std::to_string(i)) == verdict::fresh ? 1 : 0;
  EXPECT_EQ(added, 10);
  EXPECT_THROW(c.add("one more"), full_error);
  EXPECT_EQ(c.add("0"), verdict::seen);  // it still has its keys
}

TEST(RedisBloomChain, RefusesInvalidRequests) {
  for (const double rate : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_THROW((void)chain::reserve({rate, 10, 2, true}), parameter_error) << rate;
  EXPECT_THROW((void)chain::reserve({0.01, 0, 2, true}), parameter_error);
  EXPECT_THROW((void)chain::reserve({0.01, 10, 0, true}), parameter_error);
  EXPECT_THROW((void)chain::reserve({0.01, 1ULL << 62, 2, true}), parameter_error);
}

TEST(RedisBloomLayer, OfAPowerOfTwoUsesPositionsModuloThat) {
  layer l = chain::reserve({0.01, 1000, 2, true}).layers.front();
  l.log2_bits = 13;  // of 11,072 bits, 8,192 are used
  EXPECT_EQ(l.modulus(), 8192U);
  for (int i = 0; i < 500; ++i) l.add(murmur64a_pair(std::to_string(i)));
  for (std::size_t i = 1024; i < l.bits.size(); ++i) EXPECT_EQ(l.bits[i], std::byte{0});
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(l.may_contain(murmur64a_pair(std::to_string(i))));
}

}  // namespace
}  // namespace everseen::redisbloom
