// Hashes and positions that the original programs computed.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/compat/bitmap/bkdr.hpp"
#include "everseen/compat/bitmap/bkdr_php.hpp"
#include "everseen/compat/bitmap/crc32.hpp"
#include "everseen/compat/bitmap/gozero.hpp"
#include "everseen/compat/bitmap/uid_php.hpp"
#include "everseen/compat/family.hpp"

#include "test/compat/vectors.hpp"

namespace everseen::compat {
namespace {

using numbers = std::vector<std::uint64_t>;
using test::vectors;

TEST(FamiliesGolden, GozeroPutsBitsWhereGoDoes) {
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

TEST(FamiliesGolden, UidPhpPutsBitsWherePhpDoes) {
  const auto file = vectors("php")["uid_php"];
  ASSERT_GE(file["rows"].size(), 40U);
  for (const auto& row : file["rows"]) {
    const std::string key = row["key"];
    numbers found(uid_php::probes);
    uid_php::positions(key, found);
    EXPECT_EQ(found, row["offsets"].get<numbers>()) << key;
  }
}

TEST(FamiliesGolden, CrcsAreThoseOfPhp) {
  const auto rows = vectors("php")["crc32_sharding"];
  ASSERT_GE(rows.size(), 40U);
  for (const auto& row : rows) {
    const std::string key = row["key"];
    EXPECT_EQ(crc32(key), row["crc32"].get<std::uint32_t>()) << key;
  }
}

TEST(FamiliesGolden, GuavasDigestIsWhatItsHashCodePrints) {
  const auto keys = vectors("guava")["keys"];
  ASSERT_GE(keys.size(), 64U);
  for (const auto& row : keys) {
    const std::string key = row["key"];
    EXPECT_EQ(digest_text(family::guava64, 1, key), row["murmur3_x64_128_seed0_hex"]) << key;
    EXPECT_EQ(digest_text(family::guava32, 1, key), row["murmur3_x64_128_seed0_hex"]) << key;
  }
}

}  // namespace
}  // namespace everseen::compat
