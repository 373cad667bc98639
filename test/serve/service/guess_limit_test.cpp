#include "everseen/serve/service/guess_limit.hpp"

#include <string>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

using namespace std::chrono_literals;

constexpr guess_limit::clock::time_point start{};

/// How many wrong passwords of a source are checked.
int guesses(guess_limit& limit, const std::string& source, guess_limit::clock::time_point time,
            int most = 100'000) {
  int looked_at = 0;
  for (int i = 0; i < most && limit.may_try(source, time); ++i, ++looked_at) limit.was_wrong(source, time);
  return looked_at;
}

TEST(GuessLimit, ChecksTenWrongPasswordsASecondOfAGuessingSource) {
  guess_limit limit;
  EXPECT_EQ(guesses(limit, "a", start), 50);
  EXPECT_EQ(guesses(limit, "a", start + 1s), 10);
  EXPECT_EQ(guesses(limit, "a", start + 61s), 50);
}

TEST(GuessLimit, DoesNotCheckTheRightPasswordOfAGuessingSource) {
  guess_limit limit;
  guesses(limit, "a", start);
  EXPECT_FALSE(limit.may_try("a", start));
}

TEST(GuessLimit, DelaysNoOtherSource) {
  guess_limit limit;
  guesses(limit, "a", start);
  EXPECT_TRUE(limit.may_try("b", start));
}

TEST(GuessLimit, NeverDelaysASourceThatIsNotWrong) {
  guess_limit limit;
  limit.was_wrong("other", start);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(limit.may_try("a", start));
}

TEST(GuessLimit, LetsManySourcesTogetherGuessAHundredTimesASecond) {
  guess_limit limit;
  constexpr int sources = 500;
  const auto all = [&](guess_limit::clock::time_point time) {
    int looked_at = 0;
    for (int i = 0; i < sources; ++i) looked_at += guesses(limit, std::to_string(i), time);
    return looked_at;
  };
  const int first = all(start);
  EXPECT_LE(first, 1'000 + sources) << "each new source is checked once";
  const int seconds = 60;
  int later = 0;
  for (int s = 1; s <= seconds; ++s) later += all(start + std::chrono::seconds(s));
  EXPECT_EQ(later, seconds * 100);
  EXPECT_TRUE(limit.may_try("somebody else", start + 60s));
}

TEST(GuessLimit, TreatsASourceLikeAnyOtherAfterALongTimeWithoutErrors) {
  guess_limit limit;
  limit.was_wrong("a", start);
  const auto later = start + guess_limit::memory + 1s;
  ASSERT_TRUE(limit.may_try("a", later - 2s)) << "a check alone does not count as an error";
  for (int i = 0; i < 100; ++i) guesses(limit, std::to_string(i), later);
  ASSERT_FALSE(limit.may_try("99", later)) << "all together were wrong too often";
  EXPECT_TRUE(limit.may_try("a", later));
}

TEST(GuessLimit, NeverExcludesASourceThatWasRight) {
  guess_limit limit;
  limit.was_right("a", start);
  limit.was_wrong("a", start);
  for (int i = 0; i < 100; ++i) guesses(limit, std::to_string(i), start);
  EXPECT_TRUE(limit.may_try("a", start)) << "although all others together were wrong too often";
  EXPECT_EQ(guesses(limit, "a", start), 49) << "it may not guess either";
}

/// The nth /64 of a site.
std::string network(int site, int n) {
  std::string text = "2001:db8:" + std::to_string(site) + ":";
  for (const int digit : {n / 1'000 % 10, n / 100 % 10, n / 10 % 10, n % 10}) text += std::to_string(digit);
  return text + "::";
}

TEST(GuessLimit, CountsTheNetworksOfASiteTogether) {
  guess_limit limit;
  const auto looked_at = [&](guess_limit::clock::time_point time) {
    int all = 0;
    for (int i = 0; i < 5'000; ++i) all += guesses(limit, network(1, i), time, 1);
    return all;
  };
  EXPECT_EQ(looked_at(start), 200);
  EXPECT_EQ(looked_at(start + 1s), 40);
  EXPECT_TRUE(limit.may_try(network(2, 0), start + 1s)) << "another site is not delayed";
}

TEST(GuessLimit, AdmitsNewSourcesHoweverManyOthersWereWrong) {
  guess_limit limit;
  limit.was_right("here before", start);
  for (std::size_t i = 0; i < 2 * guess_limit::most_sources; ++i) limit.was_wrong(std::to_string(i), start);
  EXPECT_FALSE(limit.may_try(std::to_string(2 * guess_limit::most_sources - 1), start));
  EXPECT_TRUE(limit.may_try("new", start));
  EXPECT_TRUE(limit.may_try("0", start)) << "with too many sources, the oldest is forgotten";
  EXPECT_TRUE(limit.may_try("here before", start));
}

}  // namespace
}  // namespace everseen::serve
