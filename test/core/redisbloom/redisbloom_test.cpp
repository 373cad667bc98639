#include "everseen/core/redisbloom/redisbloom.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/bytes.hpp"
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

using testing::HasSubstr;
using testing::ThrowsMessage;

struct pair {
  std::int64_t iterator;
  std::vector<std::byte> data;
};

chain grown_chain() {
  chain c = chain::reserve({0.01, 100, 2, true});
  for (int i = 0; i < 650; ++i) c.add(std::to_string(i));
  return c;
}

std::vector<pair> dumped(const chain& from, std::size_t chunk_bytes = max_chunk_bytes) {
  std::vector<pair> all;
  dumper out(from, chunk_bytes);
  while (const auto each = out.next())
    all.push_back({each->iterator, {each->data.begin(), each->data.end()}});
  return all;
}

chain loaded(const std::vector<pair>& pairs) {
  loader in;
  for (const pair& each : pairs) in.load(each.iterator, each.data);
  return in.finish();
}

template <typename Error = format_error>
void refuses(const std::vector<pair>& pairs, const std::string& why) {
  EXPECT_THAT([&] { (void)loaded(pairs); }, ThrowsMessage<Error>(HasSubstr(why)));
}

TEST(RedisBloomDump, IsLoadedFromChunksOfAnySize) {
  const chain c = grown_chain();
  ASSERT_GE(c.layers.size(), 3U);
  for (const std::size_t chunk_bytes : {1U, 7U, 64U, 1U << 24}) EXPECT_EQ(loaded(dumped(c, chunk_bytes)), c);
}

TEST(RedisBloomDump, CountsItsBytesInItsIterators) {
  const auto pairs = dumped(grown_chain(), 100);
  std::int64_t bytes = 0;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    bytes += static_cast<std::int64_t>(pairs[i].data.size());
    EXPECT_EQ(pairs[i].iterator, 1 + bytes);
    EXPECT_LE(pairs[i].data.size(), 100U);
  }
}

TEST(RedisBloomDump, NeedsItsHeaderFirst) {
  auto pairs = dumped(grown_chain());
  pairs.erase(pairs.begin());
  refuses(pairs, "instead of the header");
  refuses({}, "no header");
}

TEST(RedisBloomDump, NeedsAllItsChunksInOrder) {
  auto pairs = dumped(grown_chain(), 50);
  auto missing_last = pairs;
  missing_last.pop_back();
  refuses(missing_last, "cut off in layer 2");
  auto missing_one = pairs;
  missing_one.erase(missing_one.begin() + 1);
  refuses(missing_one, "chunk 101 comes where 51 should");
  auto twice = pairs;
  twice.push_back(pairs.back());
  refuses(twice, "is past its end");
}

TEST(RedisBloomDump, HasNoEmptyChunksAndNoneAcrossLayers) {
  auto pairs = dumped(grown_chain());
  auto empty = pairs;
  empty[1].data.clear();
  refuses(empty, "has 0 bytes");
  auto across = pairs;
  across[1].data.push_back(std::byte{0});
  refuses(across, "where layer 0 lacks");
}

/// A header with one field changed: the bytes from `offset` on become `value`.
template <typename Number>
std::vector<pair> with_field(std::size_t offset, Number value) {
  auto pairs = dumped(grown_chain());
  store_le(pairs.front().data.data() + offset, value);
  return pairs;
}

TEST(RedisBloomHeader, IsRefusedWhenItsLengthDoesNotFitItsLayers) {
  auto pairs = dumped(grown_chain());
  pairs.front().data.resize(19);
  refuses(pairs, "ends after 19 bytes");
  refuses(with_field(8, std::uint32_t{0}), "no layers");
  refuses(with_field(8, std::uint32_t{2}), "does not hold 2 layers");
  refuses(with_field(8, std::numeric_limits<std::uint32_t>::max()), "does not hold 4294967295 layers");
}

TEST(RedisBloomHeader, IsRefusedWithFlagsThatMeanAnotherHash) {
  refuses<parameter_error>(with_field(12, std::uint32_t{1}), "hash");  // valid, but not supported here
  refuses(with_field(12, std::uint32_t{5 | 16}), "newer");
}

TEST(RedisBloomHeader, WithoutAnExpansionIsContinuedAsItsLayersHaveGrown) {
  const chain_shape grown = decode_header(with_field(16, std::uint32_t{0}).front().data).shape;
  EXPECT_TRUE(grown.grows());
  EXPECT_EQ(grown.expansion, grown_chain().expansion);
  chain one = chain::reserve({});
  one.expansion = 0;
  EXPECT_FALSE(decode_header(dumped(one).front().data).shape.grows());
  auto shrunk = with_field(16, std::uint32_t{0});
  store_le(shrunk.front().data.data() + 64 + 53, std::uint64_t{1});
  refuses(shrunk, "factor of 0");
}

TEST(RedisBloomHeader, IsRefusedBeforeMemoryForItsLayersIsAllocated) {
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  refuses(with_field(20, huge), "bits in");
  refuses(with_field(20, std::uint64_t{0}), "in 0 bytes");
  refuses(with_field(28, huge), "bits in");
  auto pairs = dumped(grown_chain());
  for (std::size_t layer = 0; layer < 3; ++layer) {  // each is possible, but not all of them together
    store_le(pairs.front().data.data() + 20 + 53 * layer, std::uint64_t{1} << 58);
    store_le(pairs.front().data.data() + 28 + 53 * layer, std::uint64_t{1} << 61);
  }
  refuses(pairs, "larger than any memory");
}

TEST(RedisBloomHeader, MayAnnounceLargeSizesWithoutMemoryBeingAllocated) {
  auto pairs = dumped(grown_chain());
  store_le(pairs.front().data.data() + 20, std::uint64_t{1} << 50);
  store_le(pairs.front().data.data() + 28, std::uint64_t{1} << 53);
  loader in;
  in.load(1, pairs.front().data);
  in.load(2, std::vector<std::byte>(1));
  EXPECT_FALSE(in.is_complete());
  EXPECT_THROW((void)in.finish(), format_error);
}

TEST(RedisBloomHeader, IsRefusedWhenItsNumbersContradictEachOther) {
  refuses(with_field(0, std::uint64_t{7}), "and not 7");
  refuses(with_field(36, std::uint64_t{7}), "and not " + std::to_string(grown_chain().keys));
  for (const double rate : {0.0, 1.0, -0.5, std::numeric_limits<double>::quiet_NaN()})
    refuses(with_field(44, rate), "error rate");
  for (const double bits : {1.0, 0.0, std::numeric_limits<double>::quiet_NaN()})
    refuses(with_field(52, bits), "bits a key");
  refuses(with_field(60, std::uint32_t{0xFFFFFFFF}), "probes");
  refuses(with_field(64, std::uint64_t{0}), "capacity");
  refuses(with_field(72, std::uint8_t{40}), "fewer bits");
  refuses(with_field(72, std::uint8_t{255}), "fewer bits");
}

}  // namespace
}  // namespace everseen::redisbloom
