#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/layout/layout.hpp"

// The bits of a few digests. A change here makes every stored filter unreadable.

namespace everseen {
namespace {

// The digest of "everseen" by XXH3 with seed 00 01 … 0f, and a segment of 1,000 lines: doc/hashing.md,
// "Worked example". A second program, in another language, computed the same numbers from the definitions
// alone.
constexpr digest example = {0x6FB5374FA9D0260A, 0xB26018DAECD8CEEB};
constexpr digest other = {0xA109277E22476BA2, 0x88B15D91D5BD5227};  // of "user:42"
constexpr std::uint64_t bytes = 64'000;

using positions = std::vector<std::uint64_t>;

positions bits_of(layout_kind layout, const digest& d) {
  positions out(max_probes);
  out.resize(bit_positions({layout, static_cast<std::uint8_t>(probes_of(layout, 7)), bytes}, d, out));
  return out;
}

TEST(LayoutGolden, PinsPartitions) {
  EXPECT_EQ(partition_of(example, 64), 42U);
  EXPECT_EQ(partition_of(example, 3), 1U);
  EXPECT_EQ(partition_of(other, 64), 8U);
  EXPECT_EQ(partition_of({~0UL, 0}, 65'536), 65'535U);
}

TEST(LayoutGolden, PinsTheNumbersOfTheWorkedExample) {
  EXPECT_EQ(draw::reduce(draw::first_line(example).index, 1'000), 436U);
  EXPECT_EQ(draw::second_line(example).index, 0x7796421EF7E97845U);
  EXPECT_EQ(draw::second_line(example).pattern, 0xC0BB9EDA96679163U);
  EXPECT_EQ(draw::reduce(draw::second_line(example).index, 1'000), 467U);
  EXPECT_EQ(draw::fold(example.high, draw::upper_key), 0xF9BA58DE354CFB27U);
  constexpr std::array<unsigned, 8> in_8x64 = {43, 59, 12, 54, 44, 43, 13, 6};
  for (unsigned w = 0; w < 8; ++w) EXPECT_EQ(draw::bit_8x64(example.high, w), in_8x64[w]);
  constexpr std::array<unsigned, 16> in_16x32 = {11, 26, 23, 6, 19, 6, 17, 0, 7, 30, 25, 6, 30, 22, 25, 20};
  for (unsigned w = 0; w < 16; ++w) EXPECT_EQ(draw::bit_16x32(example.high, w), in_16x32[w]);
}

TEST(LayoutGolden, PinsClassicPositions) {
  EXPECT_EQ(bits_of(layout_kind::classic, example),
            (positions{356750, 333581, 219489, 291645, 414215, 481059, 149176}));
  EXPECT_EQ(bits_of(layout_kind::classic, other),
            (positions{273385, 300754, 286733, 157951, 402174, 155399, 43650}));
}

TEST(LayoutGolden, PinsLinesOf8x64) {
  EXPECT_EQ(bits_of(layout_kind::line_8x64, example),
            (positions{223276, 223356, 223371, 223473, 223531, 223596, 223626, 223681}));
  EXPECT_EQ(bits_of(layout_kind::line_8x64, other),
            (positions{322080, 322127, 322194, 322280, 322322, 322368, 322462, 322512}));
}

TEST(LayoutGolden, PinsLinesOf16x32) {
  EXPECT_EQ(bits_of(layout_kind::line_16x32, example),
            (positions{223244, 223293, 223312, 223329, 223380, 223393, 223446, 223463, 223488, 223545, 223582,
                       223585, 223641, 223665, 223710, 223731}));
  EXPECT_EQ(bits_of(layout_kind::line_16x32, other),
            (positions{322048, 322102, 322134, 322155, 322195, 322224, 322269, 322277, 322329, 322337, 322390,
                       322414, 322456, 322481, 322525, 322550}));
}

TEST(LayoutGolden, PinsTwoLinesOf8x64) {
  EXPECT_EQ(bits_of(layout_kind::two_line_8x64, example),
            (positions{223276, 223356, 223371, 223473, 223531, 223596, 223626, 223681, 239140, 239170, 239294,
                       239326, 239377, 239469, 239530, 239584}));
}

TEST(LayoutGolden, PinsTwoLinesOf16x32) {
  EXPECT_EQ(bits_of(layout_kind::two_line_16x32, example),
            (positions{223244, 223293, 223312, 223329, 223380, 223393, 223446, 223463, 223488, 223545, 223582,
                       223585, 223641, 223665, 223710, 223731, 239108, 239165, 239180, 239217, 239235, 239264,
                       239304, 239344, 239364, 239401, 239445, 239473, 239497, 239525, 239567, 239611}));
}

TEST(LayoutGolden, PinsStoredNumbersAndNames) {
  EXPECT_EQ(static_cast<int>(layout_kind::classic), 1);
  EXPECT_EQ(static_cast<int>(layout_kind::line_8x64), 2);
  EXPECT_EQ(static_cast<int>(layout_kind::line_16x32), 3);
  EXPECT_EQ(static_cast<int>(layout_kind::two_line_8x64), 4);
  EXPECT_EQ(static_cast<int>(layout_kind::two_line_16x32), 5);
  EXPECT_EQ(static_cast<int>(layout_kind::guava32), 6);
  EXPECT_EQ(static_cast<int>(layout_kind::guava64), 7);
  EXPECT_EQ(static_cast<int>(layout_kind::redisbloom), 8);
  EXPECT_EQ(static_cast<int>(hash_kind::xxh3), 1);
  EXPECT_EQ(static_cast<int>(hash_kind::siphash), 2);
  EXPECT_EQ(static_cast<int>(hash_kind::murmur3), 3);
  EXPECT_EQ(static_cast<int>(hash_kind::murmur64a), 4);
  EXPECT_EQ(static_cast<int>(hash_kind::xxh3_64), 5);
  EXPECT_EQ(static_cast<int>(funnel_kind::bytes), 0);
  EXPECT_EQ(static_cast<int>(funnel_kind::chars), 1);
  EXPECT_EQ(static_cast<int>(funnel_kind::int32), 2);
  EXPECT_EQ(static_cast<int>(funnel_kind::int64), 3);
  EXPECT_EQ(to_string(layout_kind::two_line_16x32), "two-line-16x32");
}

}  // namespace
}  // namespace everseen
