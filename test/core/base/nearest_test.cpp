#include "everseen/core/base/nearest.hpp"

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

TEST(Nearest, FindsLongWordsWithTwoTypos) {
  constexpr std::array<std::string_view, 2> options = {"--max-connections", "--capacity"};
  EXPECT_EQ(nearest("--max-conection", options), "--max-connections");
  EXPECT_EQ(nearest("--kapacty", options), "--capacity");
}

TEST(Nearest, DoesNotCountDashesAsLetters) {
  constexpr std::array<std::string_view, 3> options = {"--hash", "--key", "--window"};
  for (const char* typed : {"--last", "--keep", "--by", "--host", "-k", "--"})
    EXPECT_EQ(nearest(typed, options), "");
  EXPECT_EQ(nearest("-window", options), "--window");
  EXPECT_EQ(nearest("windw", options), "--window");
}

TEST(Nearest, SuggestsNothingForDistantWords) {
  for (const char* typed : {"charge", "rope", "create-it"}) EXPECT_EQ(nearest(typed, words), "") << typed;
  EXPECT_EQ(nearest("merge", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(1000, 'x'), words), "");
}

}  // namespace
}  // namespace everseen
