#include "everseen/core/base/verdict.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace everseen {

namespace {

TEST(TallyOf, OfNoVerdictsIsZero) {
  EXPECT_EQ(tally_of({}), tally{});
}

TEST(TallyOf, CountsMoreOfOneKindThanAByteHolds) {
  for (const std::size_t n : {1, 254, 255, 256, 257, 510, 511, 100'000}) {
    EXPECT_EQ(tally_of(std::vector(n, verdict::fresh)), (tally{.fresh = n}));
    EXPECT_EQ(tally_of(std::vector(n, verdict::seen)), (tally{.seen = n}));
    EXPECT_EQ(tally_of(std::vector(n, verdict::late)), (tally{.late = n}));
    EXPECT_EQ(tally_of(std::vector(n, verdict::unknown)), (tally{.unknown = n}));
  }
}

TEST(TallyOf, CountsEachKindAmongOthers) {
  std::minstd_rand random(5);
  std::vector<verdict> all(12'345);
  tally expected;
  for (verdict& v : all) {
    v = static_cast<verdict>(random() % 4);
    expected.fresh += v == verdict::fresh;
    expected.seen += v == verdict::seen;
    expected.late += v == verdict::late;
    expected.unknown += v == verdict::unknown;
  }
  EXPECT_EQ(tally_of(all), expected);
}

}  // namespace

}  // namespace everseen
