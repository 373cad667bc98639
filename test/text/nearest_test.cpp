#include "everseen/text/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace everseen {
namespace {

constexpr std::array<std::string_view, 4> words = {"create", "check", "add", "drop"};

TEST(Nearest, FindsWordsWithOneTypo) {
  EXPECT_EQ(nearest("creat", words), "create");
  EXPECT_EQ(nearest("chekc", words), "check");
  EXPECT_EQ(nearest("ad", words), "add");
  EXPECT_EQ(nearest("drops", words), "drop");
}

TEST(Nearest, SuggestsNothingForDistantWords) {
  EXPECT_EQ(nearest("merge", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(1000, 'x'), words), "");
}

}  // namespace
}  // namespace everseen
