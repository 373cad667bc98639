#include "everseen/foreign/guava/guava.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"

#include "test/support/binomial.hpp"
#include "test/support/bits.hpp"
#include "test/support/model/guava_filter.hpp"

namespace everseen::foreign::guava {
namespace {

using numbers = std::vector<std::uint64_t>;
constexpr std::uint64_t bits = 3'712;

std::vector<digest> digests() {
  std::vector<digest> all;
  for (int i = 0; i < 1'000; ++i) all.push_back(murmur3_x64_128(std::to_string(i)));
  return all;
}

TEST(GuavaPositions, Of32BitsAreSignedSumsInvertedWhenNegative) {
  for (const digest& d : digests()) {
    numbers found(9);
    positions(strategy::mitz_32, d, bits, found);
    for (std::int64_t i = 1; i <= 9; ++i) {
      const auto a = static_cast<std::int32_t>(static_cast<std::uint32_t>(d.low));
      const auto b = static_cast<std::int32_t>(static_cast<std::uint32_t>(d.low >> 32));
      const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(a + i * b));  // wraps like an int
      EXPECT_EQ(found[static_cast<std::size_t>(i - 1)],
                static_cast<std::uint64_t>(sum < 0 ? -1 - std::int64_t{sum} : std::int64_t{sum}) % bits);
    }
  }
}

TEST(GuavaPositions, Of64BitsAreSumsWithoutTheirSign) {
  for (const digest& d : digests()) {
    numbers found(9);
    positions(strategy::mitz_64, d, bits, found);
    for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(found[i], (d.low + i * d.high) % (1ULL << 63) % bits);
  }
}

TEST(GuavaShape, IsThatOfTheRecordedFilter) {
  EXPECT_EQ(smallest(strategy::mitz_64, 500, 0.03), (shape{strategy::mitz_64, 5, 58}));
}

TEST(GuavaShape, CountsZeroInsertionsAsOne) {
  EXPECT_EQ(smallest(strategy::mitz_64, 0, 0.03), smallest(strategy::mitz_64, 1, 0.03));
}

TEST(GuavaShape, IsRefusedWhereGuavaRefusesIt) {
  EXPECT_THROW((void)smallest(strategy::mitz_64, 100, 0), parameter_error);
  EXPECT_THROW((void)smallest(strategy::mitz_64, 100, 1), parameter_error);
  EXPECT_THROW((void)smallest(strategy::mitz_64, 100, -0.5), parameter_error);
  EXPECT_THROW((void)smallest(strategy::mitz_64, 1, 0.9), parameter_error);      // no bit
  EXPECT_THROW((void)smallest(strategy::mitz_64, 100, 1e-90), parameter_error);  // 299 probes
  EXPECT_THROW((void)smallest(strategy::mitz_64, 1ULL << 40, 0.01), parameter_error);
}

TEST(GuavaFilter, NeverForgetsAndRarelyErrs) {
  filter f(smallest(strategy::mitz_64, 10'000, 0.01));
  for (int i = 0; i < 10'000; ++i) f.add("key " + std::to_string(i));
  std::uint64_t wrong = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(f.may_contain("key " + std::to_string(i)));
    wrong += f.may_contain("other " + std::to_string(i)) ? 1U : 0U;
  }
  EXPECT_GE(wrong, test::binomial_floor(10'000, 0.01));
  EXPECT_LE(wrong, test::binomial_bound(10'000, 0.01));
}

TEST(GuavaFilter, ReportsWhetherABitChanged) {
  filter f(smallest(strategy::mitz_32, 100, 0.03));
  EXPECT_TRUE(f.add("a"));
  EXPECT_FALSE(f.add("a"));
  EXPECT_EQ(count_bits(f.bits()), f.get_shape().probes);
}

TEST(GuavaRedisStrings, AreNumberedFromZero) {
  EXPECT_EQ(redis_strings::key("phones", 0), "phones-0");
  EXPECT_EQ(redis_strings::key("phones", 12), "phones-12");
}

using testing::HasSubstr;
using testing::ThrowsMessage;

using bytes = std::vector<std::byte>;

bytes stream_of(const std::vector<int>& values) {
  bytes all;
  for (const int each : values) all.push_back(static_cast<std::byte>(each));
  return all;
}

/// A stream of one word whose lowest bit, and whose highest, is 1.
const bytes one_word = stream_of({1, 5, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 1});

TEST(GuavaStream, HasBitZeroAtTheEndOfAWord) {
  const filter read = decode(one_word);
  EXPECT_EQ(read.get_shape(), (shape{strategy::mitz_64, 5, 1}));
  EXPECT_TRUE(test_bit(read.bits(), 0));
  EXPECT_TRUE(test_bit(read.bits(), 63));
  EXPECT_EQ(count_bits(read.bits()), 2U);
}

TEST(GuavaStream, HasBitPWhereRedisHasBitPXor63) {
  filter f({strategy::mitz_32, 7, 31});
  for (int i = 0; i < 100; ++i) f.add(std::to_string(i));
  const bytes stream = encode(f);
  const auto words = std::span(stream).subspan(stream_header_bytes);
  for (std::uint64_t p = 0; p < f.get_shape().bits(); ++p)
    EXPECT_EQ(test_bit(words, p ^ 63), test_bit(f.bits(), p)) << p;
}

TEST(GuavaStream, IsReadAndWrittenBack) {
  for (const strategy algorithm : {strategy::mitz_32, strategy::mitz_64}) {
    filter f(smallest(algorithm, 1'000, 0.01));
    for (int i = 0; i < 1'000; ++i) f.add(std::to_string(i));
    const bytes stream = encode(f);
    EXPECT_EQ(encode(decode(stream)), stream);
    EXPECT_TRUE(decode(stream).may_contain("999"));
  }
}

auto refuses(bytes stream, const std::string& why) {
  EXPECT_THAT([&] { (void)decode(stream); }, ThrowsMessage<format_error>(HasSubstr(why)));
}

TEST(GuavaStream, IsRefusedWhenCutOff) {
  for (std::size_t length = 0; length < stream_header_bytes; ++length)
    refuses(bytes(one_word.begin(), one_word.begin() + static_cast<std::ptrdiff_t>(length)), "header");
  for (std::size_t length = stream_header_bytes; length < one_word.size(); ++length)
    refuses(bytes(one_word.begin(), one_word.begin() + static_cast<std::ptrdiff_t>(length)),
            "promises 8 bytes");
}

TEST(GuavaStream, IsRefusedWithTrailingBytes) {
  bytes longer = one_word;
  longer.push_back(std::byte{0});
  refuses(longer, "9 follow");
}

TEST(GuavaStream, IsRefusedWithAnUnknownStrategy) {
  refuses(stream_of({2, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}), "strategy 2");
  refuses(stream_of({255, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}), "strategy 255");
}

TEST(GuavaStream, IsRefusedWithoutProbesOrWords) {
  refuses(stream_of({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}), "no probes");
  refuses(stream_of({1, 5, 0, 0, 0, 0}), "0 words");
}

TEST(GuavaStream, IsRefusedBeforeMemoryForItsWordsIsAllocated) {
  refuses(stream_of({1, 5, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0}),
          "promises 17179869176 bytes of bits, and 2 follow");
  refuses(stream_of({1, 5, 0x80, 0, 0, 0, 0, 0}), "2147483648 words");
}

TEST(GuavaStream, WordsAreConvertedInPlaceAndBack) {
  bytes words = stream_of({0x80, 0, 0, 0, 0, 0, 0, 3});
  convert_words(words, words);
  EXPECT_EQ(words, stream_of({0xC0, 0, 0, 0, 0, 0, 0, 1}));
  convert_words(words, words);
  EXPECT_EQ(words, stream_of({0x80, 0, 0, 0, 0, 0, 0, 3}));
}

}  // namespace
}  // namespace everseen::foreign::guava
