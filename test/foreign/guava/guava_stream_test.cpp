#include "everseen/foreign/guava/guava_stream.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/support/bits.hpp"
#include "test/support/model/guava_filter.hpp"

namespace everseen::foreign::guava {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

using bytes = std::vector<std::byte>;

bytes stream_of(const std::vector<int>& numbers) {
  bytes all;
  for (const int each : numbers) all.push_back(static_cast<std::byte>(each));
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
