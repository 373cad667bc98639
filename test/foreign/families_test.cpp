// Compares each family with a simple definition.

#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/bitmap/family.hpp"
#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/foreign/bitmap/plain_filters.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"

namespace everseen::foreign {
namespace {

using numbers = std::vector<std::uint64_t>;
__extension__ using uint128 = unsigned __int128;

/// Keys of every length up to 70 bytes, of all byte values.
std::vector<std::string> keys() {
  std::vector<std::string> all;
  std::uint64_t state = 1;
  for (std::size_t length = 0; length <= 70; ++length) {
    std::string key;
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      key += static_cast<char>(state >> 56);
    }
    all.push_back(key);
  }
  return all;
}

unsigned byte_of(char c) {
  return static_cast<unsigned char>(c);
}

TEST(Gozero, HashesTheKeyFollowedByTheNumberOfTheProbe) {
  for (const std::string& key : keys()) {
    numbers found(gozero::probes);
    gozero::positions(key, 1'000'003, found);
    for (unsigned i = 0; i < gozero::probes; ++i)
      EXPECT_EQ(found[i], murmur3_x64_128(key + static_cast<char>(i)).low % 1'000'003) << key.size();
  }
}

TEST(Bkdr, IsAPolynomialOfTheBytesModulo31Bits) {
  for (const std::string& key : keys()) {
    numbers found(bkdr::max_probes);
    bkdr::hashes(key, found);
    for (unsigned i = 0; i < bkdr::max_probes; ++i) {
      const std::uint64_t seed = bkdr::seed(i) % (std::uint64_t{1} << 32);
      std::uint64_t h = 0;
      for (const char c : key) h = (h * seed + byte_of(c)) % (std::uint64_t{1} << 31);
      EXPECT_EQ(found[i], h) << "probe " << i << ", length " << key.size();
    }
  }
}

// Promise: the bytes of a key are unsigned (hashing, Other systems).
TEST(Bkdr, AddsBytesThatAreUnsigned) {
  numbers found(1);
  bkdr::hashes("\xc3\xa9", found);
  EXPECT_EQ(found.front(), 0xc3U * 31 + 0xa9U);
}

TEST(Bkdr, HasSeedsOfOnesAndThrees) {
  EXPECT_EQ(bkdr::seed(0), 31U);
  for (unsigned i = 1; i < bkdr::max_probes; ++i)
    EXPECT_EQ(std::to_string(bkdr::seed(i)), std::string("13131313131313131313").substr(0, i + 2));
}

TEST(Bkdr, HasKeysThatCollideUnderEveryOddSeed) {
  // The Thue-Morse sequence: as a polynomial their difference is the product of x^(2^i) - 1 for i < 7, and
  // each factor of an odd x adds more factors of two.
  std::string key, other;
  for (unsigned i = 0; i < 128; ++i) {
    const bool odd = std::popcount(i) % 2 == 1;
    key += odd ? 'b' : 'a';
    other += odd ? 'a' : 'b';
  }
  numbers of_key(bkdr::max_probes), of_other(bkdr::max_probes);
  bkdr::hashes(key, of_key);
  bkdr::hashes(other, of_other);
  EXPECT_EQ(of_key, of_other);
}

/// The value of a whole number after a double keeps its upper 53 bits, ties to even.
uint128 rounded(uint128 number) {
  unsigned shift = 0;
  while (number >> shift >> 53 != 0) ++shift;
  if (shift == 0) return number;
  uint128 kept = number >> shift;
  const uint128 lost = number - (kept << shift);
  const uint128 half = uint128{1} << (shift - 1);
  if (lost > half || (lost == half && kept % 2 == 1)) ++kept;
  return kept << shift;
}

TEST(BkdrPhp, RoundsEachProductTo53Bits) {
  for (const std::string& key : keys()) {
    numbers found(bkdr_php::max_probes);
    bkdr_php::hashes(key, found);
    for (unsigned i = 0; i < bkdr_php::max_probes; ++i) {
      uint128 h = 0;
      for (const char c : key) {
        uint128 product = h * bkdr::seed(i);
        // An integer of 63 bits is rounded once; above that, the seed was rounded before the product.
        if (product >> 63 != 0) product = h * rounded(bkdr::seed(i));
        h = (rounded(product) % (uint128{1} << 31) + byte_of(c)) % (uint128{1} << 31);
      }
      EXPECT_EQ(found[i], static_cast<std::uint64_t>(h)) << "probe " << i << ", length " << key.size();
    }
  }
}

TEST(BkdrPhp, AgreesWithCInTheFirstSixProbes) {
  for (const std::string& key : keys()) {
    numbers in_php(6), in_c(6);
    bkdr_php::hashes(key, in_php);
    bkdr::hashes(key, in_c);
    EXPECT_EQ(in_php, in_c);
  }
}

TEST(UidPhp, IsAPolynomialOfTheBytesUntilIntegersOverflow) {
  for (const char* const key : {"0", "42", "10000000000", "999999999999"}) {
    numbers found(uid_php::probes);
    uid_php::positions(key, found);
    constexpr std::uint64_t seeds[] = {7, 11, 13, 17, 19, 23, 29};
    for (unsigned i = 0; i < uid_php::probes; ++i) {
      std::uint64_t h = 0;
      for (const char* c = key; *c != 0; ++c) h = seeds[i] * h + byte_of(*c);
      EXPECT_EQ(found[i], h % uid_php::bits);
    }
  }
}

TEST(UidPhp, HasOnePositionForAllLongKeys) {
  for (const std::size_t length : {30U, 100U, 1000U}) {  // PHP turns the last into infinity
    numbers found(uid_php::probes);
    uid_php::positions(std::string(length, 'x'), found);
    EXPECT_EQ(found, numbers(uid_php::probes, 0)) << length;
  }
}

TEST(RedisBloomPositions, StepByTheSecondHash) {
  for (const std::string& key : keys()) {
    const std::uint64_t a = murmur64a(key, 0xC6A4A7935BD1E995);
    const std::uint64_t b = murmur64a(key, a);
    numbers found(20);
    redisbloom::positions(murmur64a_pair(key), 11'072, found);
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(found[i], (a + i * b) % 11'072);
  }
}

TEST(Shards, AreOneStringUpTo4GiBits) {
  EXPECT_EQ(bkdr_php::shards(1, 1).partitions(), 1U);
  EXPECT_EQ(bkdr_php::shards(1ULL << 32, 3).partitions(), 1U);
  EXPECT_EQ(bkdr_php::shards((1ULL << 32) + 1, 1).partitions(), 2U);
  EXPECT_EQ(bkdr_php::shards((1ULL << 32) + 1, 2).partitions(), 1U);
  EXPECT_EQ(bkdr_php::shards(50'000'000'000, 4).partitions(), 3U);
}

TEST(Shards, AreChosenTwiceByTheSameCrc) {
  const bkdr_php::shards s(50'000'000'000, 4);
  EXPECT_EQ(s.of("a"), (bkdr_php::shards::place{3904355907 % 4, 3904355907 % 3}));
  EXPECT_EQ(bkdr_php::shards::redis_key("clicks", s.of("a").partition), "clicks.0");
}

TEST(Shards, LeaveStringsEmptyWhereInstancesAndPartitionsShareADivisor) {
  const bkdr_php::shards s(50'000'000'000, 2);
  ASSERT_EQ(s.partitions(), 6U);
  std::set<std::pair<std::uint32_t, std::uint64_t>> used;
  for (int i = 0; i < 10'000; ++i) {
    const auto place = s.of(std::to_string(i));
    used.emplace(place.instance, place.partition);
  }
  EXPECT_EQ(used.size(), 6U);  // of 12
}

TEST(Shards, RefuseNoNumber) {
  EXPECT_THROW(bkdr_php::shards(0, 1), parameter_error);
  EXPECT_THROW(bkdr_php::shards(1, 0), parameter_error);
}

TEST(Redisson, KeepsItsSizesInTheSlotOfItsBits) {
  EXPECT_EQ(redisson::config_key("mails"), "{mails}:config");
  EXPECT_EQ(redisson::config_key("{users}mails"), "{users}mails:config");
}

TEST(Redisson, RefusesTheSizesThatTryInitRefuses) {
  EXPECT_THROW((void)redisson::smallest(0, 0.01), parameter_error);
  EXPECT_THROW((void)redisson::smallest(1, 0.9), parameter_error);
  EXPECT_THROW((void)redisson::smallest(1'000'000'000, 1e-9), parameter_error);
  EXPECT_THROW((void)redisson::smallest(1, 1), parameter_error);
}

TEST(Families, AreFoundByName) {
  for (const family_facts& each : all_families()) {
    EXPECT_EQ(parse_family(each.name), each.which);
    EXPECT_EQ(facts(each.which).name, each.name);
  }
  EXPECT_EQ(parse_family("guava"), std::nullopt);
}

TEST(Families, KeepTheirPositionsBelowTheirBits) {
  for (const family_facts& each : all_families()) {
    const std::uint64_t bits = each.fixed_bits != 0 ? each.fixed_bits : 1'001;
    const scheme s = {each.which, bits, each.standard_probes};
    ASSERT_NO_THROW(validate(s));
    numbers found(s.probes);
    for (const std::string& key : keys()) {
      positions(s, key, found);
      EXPECT_THAT(found, testing::Each(testing::Lt(bits))) << each.name;
    }
  }
}

TEST(Families, RefuseInvalidNumbers) {
  EXPECT_THROW(validate({family::guava64, 0, 5}), parameter_error);
  EXPECT_THROW(validate({family::guava64, 64, 0}), parameter_error);
  EXPECT_THROW(validate({family::guava64, 64, 256}), parameter_error);
  EXPECT_THROW(validate({family::gozero, 64, 13}), parameter_error);
  EXPECT_THROW(validate({family::uid_php, 64, 7}), parameter_error);
  EXPECT_THROW(validate({family::bkdr_php, 64, 17}), parameter_error);
  EXPECT_NO_THROW(validate({family::redisson, redisson::max_bits, 7}));
  EXPECT_THROW(validate({family::redisson, redisson::max_bits + 1, 7}), parameter_error);
}

}  // namespace
}  // namespace everseen::foreign
