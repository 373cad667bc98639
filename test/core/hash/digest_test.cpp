#include "everseen/core/hash/digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/bytes.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace everseen {
namespace {

hash_seed seed_of(std::uint64_t first, std::uint64_t second = 0) {
  hash_seed seed;
  store_le(seed.data(), first);
  store_le(seed.data() + 8, second);
  return seed;
}

std::string random_text(std::size_t length) {
  std::mt19937_64 next(length + 1);
  std::string text(length, '\0');
  for (char& c : text) c = static_cast<char>(next());
  return text;
}

TEST(Digest, EqualsXxh3With128BitsAndASeedForEveryLength) {
  // The fast paths of the hasher differ from those of the library at 240 bytes, where long keys begin.
  const std::string text = random_text(1'100);
  for (const std::uint64_t seed : {0x0ULL, 0x1ULL, 0x9E3779B97F4A7C15ULL, ~0x0ULL}) {
    const hasher hash(hash_kind::xxh3, seed_of(seed));
    for (std::size_t length = 0; length <= text.size(); ++length) {
      const XXH128_hash_t expected = XXH3_128bits_withSeed(text.data(), length, seed);
      ASSERT_EQ(hash(std::string_view(text).substr(0, length)), (digest{expected.low64, expected.high64}))
          << length;
    }
  }
}

TEST(Digest, EqualsXxh3AtAnyAlignment) {
  const std::string text = random_text(1'000);
  const hasher hash(hash_kind::xxh3, seed_of(42));
  for (const std::size_t length : {239U, 240U, 241U, 900U}) {
    for (std::size_t from = 0; from < 64; ++from) {
      const XXH128_hash_t expected = XXH3_128bits_withSeed(text.data() + from, length, 42);
      ASSERT_EQ(hash(std::string_view(text).substr(from, length)), (digest{expected.low64, expected.high64}));
    }
  }
}

TEST(Digest, EqualsXxh3With64BitsLengthenedForEveryLength) {
  const std::string text = random_text(1'100);
  for (const std::uint64_t seed : {0x0ULL, 0x1ULL, 0x9E3779B97F4A7C15ULL, ~0x0ULL}) {
    const hasher hash(hash_kind::xxh3_64, seed_of(seed));
    for (std::size_t length = 0; length <= text.size(); ++length)
      ASSERT_EQ(hash(std::string_view(text).substr(0, length)),
                lengthened(XXH3_64bits_withSeed(text.data(), length, seed)))
          << length;
  }
}

// Stored bits follow from these numbers. The first is SplitMix64's first output from the seed 0.
TEST(Digest, IsLengthenedBySplitMix64) {
  EXPECT_EQ(lengthened(0), (digest{0, 0xE220A8397B1DCDAF}));
  EXPECT_EQ(lengthened(0x6FB5374FA9D0260A), (digest{0x6FB5374FA9D0260A, 0xFDF31ADF6C8FFF33}));
}

TEST(Digest, IsLengthenedSoThatEachInputBitMovesHalfOfTheOutput) {
  std::mt19937_64 next(5);
  constexpr int keys = 2000;
  for (unsigned bit = 0; bit < 64; ++bit) {
    int moved = 0;
    for (int i = 0; i < keys; ++i) {
      const std::uint64_t low = next();
      moved += std::popcount(lengthened(low).high ^ lengthened(low ^ std::uint64_t{1} << bit).high);
    }
    // 4.5 standard deviations of 64 independent bits per key.
    EXPECT_NEAR(moved, 32 * keys, 4.5 * std::sqrt(16.0 * keys)) << bit;
  }
}

TEST(Digest, UsesAsManyBytesOfTheSeedAsItsHashSays) {
  for (const hash_facts& f : all_hashes) {
    for (std::size_t i = 0; i < std::tuple_size_v<hash_seed>; ++i) {
      hash_seed seed = seed_of(1, 2);
      const digest reference = hasher(f.kind, seed)("key");
      seed[i] ^= 0x80;
      EXPECT_EQ(hasher(f.kind, seed)("key") != reference, i < f.seed_bytes) << f.name << ", byte " << i;
    }
  }
}

TEST(Digest, FollowsFromItsLowHalfIfItsHashIsShort) {
  for (const hash_facts& f : all_hashes) {
    const digest d = hasher(f.kind, seed_of(1, 2))("key");
    EXPECT_EQ(d == lengthened(d.low), f.is_short) << f.name;
  }
}

TEST(Digest, EqualsTheVectorsPublishedWithSipHash) {
  // SipHash-2-4 with 128 bits: key 00 01 … 0f, message 00 01 … of 0 to 15 bytes, output bytes in order.
  constexpr std::array<const char*, 16> vectors = {
      "a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
      "8177228da4a45dc7fca38bdef60affe4", "9c70b60c5267a94e5f33b6b02985ed51",
      "f88164c12d9c8faf7d0f6e7c7bcd5579", "1368875980776f8854527a07690e9627",
      "14eeca338b208613485ea0308fd7a15e", "a1f1ebbed8dbc153c0b84aa61ff08239",
      "3b62a9ba6258f5610f83e264f31497b4", "264499060ad9baabc47f8b02bb6d71ed",
      "00110dc378146956c95447d3f3d0fbba", "0151c568386b6677a2b4dc6f81e5dc18",
      "d626b266905ef35882634df68532c125", "9869e247e9c08b10d029934fc4b952f7",
      "31fcefac66d7de9c7ec7485fe4494902", "5493e99933b0a8117e08ec0f97cfc3d9"};
  hash_seed key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  const hasher hash(hash_kind::siphash, key);
  std::string message;
  for (const std::string hex : vectors) {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    EXPECT_EQ(hash(message), (digest{load_le64(bytes.data()), load_le64(bytes.data() + 8)}))
        << message.size();
    message += static_cast<char>(message.size());
  }
}

TEST(Digest, ABatchEqualsItsKeysHashedOneByOne) {
  // Lengths in any order: keys of up to 8, of up to 16 and of more bytes are hashed apart from each
  // other.
  const std::string text = random_text(1'100);
  std::mt19937_64 next(5);
  std::vector<std::string_view> keys;
  for (const std::size_t longest : {3U, 10U, 20U, 300U, 1'000U})
    for (std::size_t i = 0; i < 500; ++i)
      keys.push_back(std::string_view(text).substr(i % 64, next() % (longest + 1)));
  std::ranges::shuffle(keys, next);
  for (const hash_facts& f : all_hashes) {
    const hasher hash(f.kind, seed_of(7, 8));
    std::vector<digest> digests(keys.size());
    hash(keys, digests);
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(digests[i], hash(keys[i])) << f.name;
  }
}

TEST(Digest, EmptyBatchesAndEmptyKeysAreAllowed) {
  for (const hash_facts& f : all_hashes) {
    const hasher hash(f.kind, seed_of(1));
    hash(std::span<const std::string_view>{}, {});
    EXPECT_EQ(hash(std::string_view{}), hash(""));
  }
}

TEST(Digest, RandomSeedsDiffer) {
  EXPECT_NE(random_hash_seed(), random_hash_seed());
}

TEST(Digest, HashNamesAreParsed) {
  for (const hash_facts& f : all_hashes) EXPECT_EQ(parse_hash_kind(to_string(f.kind)), f.kind);
  EXPECT_EQ(parse_hash_kind("md5"), std::nullopt);
}

TEST(Digest, OnlyOwnHashesOf128BitsMayBeAskedFor) {
  for (const hash_facts& f : all_hashes) {
    const bool may_be_asked = f.is_own && !f.is_short;
    EXPECT_EQ(parse_asked_hash(f.name), may_be_asked ? std::optional(f.kind) : std::nullopt) << f.name;
  }
  EXPECT_EQ(asked_hash_names(", "), "xxh3, siphash");
}

TEST(Digest, NumbersThatAreNoHashHaveNoFacts) {
  const auto beyond = static_cast<hash_kind>(all_hashes.size() + 1);
  for (const hash_kind kind : {hash_kind{0}, beyond}) {
    EXPECT_EQ(to_string(kind), "invalid");
    EXPECT_FALSE(is_own(kind) || has_secret_seed(kind) || is_short(kind));
  }
}

}  // namespace
}  // namespace everseen
