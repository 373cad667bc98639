#include "everseen/core/base/words.hpp"

#include <gtest/gtest.h>

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

TEST(Words, ReadSizesOfMemoryAsRedisDoes) {
  EXPECT_EQ(read_memory_size("0"), 0);
  EXPECT_EQ(read_memory_size("100"), 100);
  EXPECT_EQ(read_memory_size("7b"), 7);
  EXPECT_EQ(read_memory_size("1k"), 1'000);
  EXPECT_EQ(read_memory_size("1kB"), 1'024);
  EXPECT_EQ(read_memory_size("2MB"), 2 << 20);
  EXPECT_EQ(read_memory_size("3g"), 3'000'000'000);
  EXPECT_EQ(read_memory_size("8589934591gb"), 9'223'372'035'781'033'984);
}

TEST(Words, RefuseWhatIsNoSizeOfMemory) {
  for (const char* text :
       {"", "-1", "gb", "1 gb", "1.5gb", "1tb", "1gbx", "9223372036854775808", "8589934592gb"})
    EXPECT_EQ(read_memory_size(text), std::nullopt) << text;
}

}  // namespace
}  // namespace everseen
