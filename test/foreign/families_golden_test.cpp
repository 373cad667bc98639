// Hashes and positions that the original programs computed.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/foreign/bitmap/family.hpp"
#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/foreign/bitmap/plain_filters.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"

#include "test/foreign/vectors.hpp"

namespace everseen::foreign {
namespace {

using numbers = std::vector<std::uint64_t>;
using test::vectors;

TEST(FamiliesGolden, GozeroSetsTheBitsThatGoSets) {
  const auto file = vectors("gozero");
  const scheme s = {family::gozero, file["bits"], file["maps"]};
  ASSERT_NO_THROW(validate(s));
  ASSERT_GE(file["rows"].size(), 10U);
  for (const auto& row : file["rows"]) {
    const std::string key = row["key"];
    numbers found(s.probes);
    positions(s, key, found);
    EXPECT_EQ(found, row["offsets"].get<numbers>()) << key;
  }
}

TEST(FamiliesGolden, BkdrHashesAsCDoes) {
  const auto file = vectors("bkdr_c");
  const auto seeds = file["seeds"].get<numbers>();
  for (unsigned i = 0; i < seeds.size(); ++i) EXPECT_EQ(bkdr::seed(i), seeds[i]);
  for (const auto& row : file["rows"]) {
    const std::string key = row["key"];
    numbers found(seeds.size());
    bkdr::hashes(key, found);
    EXPECT_EQ(found, row["hashes"].get<numbers>()) << key;
  }
}

TEST(FamiliesGolden, BkdrPhpHashesAsPhpDoes) {
  const auto file = vectors("php")["bkdr_php"];
  const auto seeds = file["seeds"].get<numbers>();
  ASSERT_EQ(seeds.size(), bkdr_php::max_probes);
  for (unsigned i = 0; i < seeds.size(); ++i) EXPECT_EQ(bkdr::seed(i), seeds[i]);
  ASSERT_GE(file["rows"].size(), 40U);
  for (const auto& row : file["rows"]) {
    const std::string key = row["key"];
    numbers found(seeds.size());
    bkdr_php::hashes(key, found);
    EXPECT_EQ(found, row["hashes"].get<numbers>()) << key;
  }
}

TEST(FamiliesGolden, UidPhpSetsTheBitsThatPhpSets) {
  const auto file = vectors("php")["uid_php"];
  ASSERT_GE(file["rows"].size(), 40U);
  for (const auto& row : file["rows"]) {
    const std::string key = row["key"];
    numbers found(uid_php::probes);
    uid_php::positions(key, found);
    EXPECT_EQ(found, row["offsets"].get<numbers>()) << key;
  }
}

TEST(FamiliesGolden, CrcsEqualThoseOfPhp) {
  const auto rows = vectors("php")["crc32_sharding"];
  ASSERT_GE(rows.size(), 40U);
  for (const auto& row : rows) {
    const std::string key = row["key"];
    EXPECT_EQ(crc32(key), row["crc32"].get<std::uint32_t>()) << key;
  }
}

TEST(FamiliesGolden, GuavasDigestMatchesTheHashCodeThatGuavaPrints) {
  const auto keys = vectors("guava")["keys"];
  ASSERT_GE(keys.size(), 64U);
  for (const auto& row : keys) {
    const std::string key = row["key"];
    EXPECT_EQ(digest_text(family::guava64, 1, key), row["murmur3_x64_128_seed0_hex"].get<std::string>())
        << key;
    EXPECT_EQ(digest_text(family::guava32, 1, key), row["murmur3_x64_128_seed0_hex"].get<std::string>())
        << key;
  }
}

/// The bytes of a key, which can be arbitrary.
std::string key_of(const nlohmann::json& row) {
  const auto bytes = test::from_base64(row["key_base64"].get<std::string>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(FamiliesGolden, RedissonHashesAsRedissonDoes) {
  const auto rows = vectors("redisson")["rows"];
  ASSERT_EQ(rows.size(), 160U);
  for (const auto& row : rows) {
    const digest d = redisson::hash(key_of(row));
    EXPECT_EQ(std::to_string(d.low), row["hash"][0].get<std::string>()) << row["key_base64"];
    EXPECT_EQ(std::to_string(d.high), row["hash"][1].get<std::string>()) << row["key_base64"];
  }
}

TEST(FamiliesGolden, RedissonSetsTheBitsThatRedissonSets) {
  const auto rows = vectors("redisson")["rows"];
  ASSERT_EQ(rows.size(), 160U);
  for (const auto& row : rows) {
    ASSERT_EQ(row["indexes"].size(), 3U);
    for (const auto& [size, expected] : row["indexes"].items()) {  // "9585058x7": bits and probes
      const scheme s = {family::redisson, std::stoull(size),
                        static_cast<unsigned>(std::stoul(size.substr(size.find('x') + 1)))};
      ASSERT_NO_THROW(validate(s));
      numbers found(s.probes);
      positions(s, key_of(row), found);
      EXPECT_EQ(found, expected.get<numbers>()) << row["key_base64"] << " in " << size;
    }
  }
}

TEST(FamiliesGolden, RedissonSizesFiltersAsTryInitDoes) {
  const auto sizes = vectors("redisson")["sizes"];
  ASSERT_EQ(sizes.size(), 53U);
  for (const auto& row : sizes) {
    const redisson::shape expected = {row["size"], row["hashIterations"]};
    EXPECT_EQ(redisson::smallest(row["expectedInsertions"], row["falseProbability"]), expected) << row;
  }
}

}  // namespace
}  // namespace everseen::foreign
