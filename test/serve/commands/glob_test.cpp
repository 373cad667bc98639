#include "everseen/serve/commands/glob.hpp"

#include <string>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

TEST(Glob, MatchesAsRedisDoes) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("user:*:seen", "user:42:seen"));
  EXPECT_FALSE(matches("user:*:seen", "user:42:seen?"));
  EXPECT_TRUE(matches("h?llo", "hello"));
  EXPECT_TRUE(matches("h[ae]llo", "hallo"));
  EXPECT_FALSE(matches("h[^e]llo", "hello"));
  EXPECT_TRUE(matches("h[a-c]llo", "hbllo"));
  EXPECT_TRUE(matches("a\\*b", "a*b"));
  EXPECT_FALSE(matches("a\\*b", "axb"));
}

TEST(Glob, SurvivesUnterminatedPatterns) {
  EXPECT_TRUE(matches("[a", "a"));
  EXPECT_FALSE(matches("[", "a"));
  EXPECT_TRUE(matches("\\", "\\"));
}

TEST(Glob, NeedsNoMoreThanPatternTimesTextSteps) {
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(5000, 'a')));  // with exponential time it would not finish
}

}  // namespace
}  // namespace everseen::serve
