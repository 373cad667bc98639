#include <gtest/gtest.h>

#include "everseen/core/base/digits.hpp"

namespace everseen {
namespace {

TEST(Words, AreEqualInAnyCaseAndNothingElseIs) {
  EXPECT_TRUE(is_word("LAYOUT", "LAYOUT"));
  EXPECT_TRUE(is_word("lAyout", "LAYOUT"));
  EXPECT_TRUE(is_word("", ""));
  EXPECT_FALSE(is_word("LAYOU", "LAYOUT"));
  EXPECT_FALSE(is_word("LAYOUTS", "LAYOUT"));
  EXPECT_FALSE(is_word("`", "@")) << "a letter's distance apart, and no letters";
}

TEST(Words, DecimalFractionsAreFinite) {
  EXPECT_EQ(read_decimal("0.25"), 0.25);
  EXPECT_EQ(read_decimal("-1e-3"), -0.001);
  for (const char* text : {"", "x", "0.1x", " 0.1", "inf", "-inf", "nan", "1e999"})
    EXPECT_EQ(read_decimal(text), std::nullopt) << text;
}

}  // namespace
}  // namespace everseen
