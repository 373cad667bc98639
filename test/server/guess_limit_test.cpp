#include "everseen/server/guess_limit.hpp"

#include <string>

#include <gtest/gtest.h>

namespace everseen::server {
namespace {

using namespace std::chrono_literals;

constexpr guess_limit::clock::time_point start{};

/// How many wrong passwords of a source are looked at.
int guesses(guess_limit& limit, const std::string& source, guess_limit::clock::time_point now,
            int most = 100'000) {
  int looked_at = 0;
  for (int i = 0; i < most && limit.may_try(source, now); ++i, ++looked_at) limit.was_wrong(source, now);
  return looked_at;
}

TEST(GuessLimit, LooksAtTenWrongPasswordsASecondOfOneWhoGuesses) {
  guess_limit limit;
  EXPECT_EQ(guesses(limit, "a", start), 50);
  EXPECT_EQ(guesses(limit, "a", start + 1s), 10);
  EXPECT_EQ(guesses(limit, "a", start + 61s), 50);
}

TEST(GuessLimit, DoesNotLookAtTheRightPasswordOfOneWhoGuesses) {
  guess_limit limit;
  guesses(limit, "a", start);
  EXPECT_FALSE(limit.may_try("a", start));
}

TEST(GuessLimit, HoldsUpNoOtherSource) {
  guess_limit limit;
  guesses(limit, "a", start);
  EXPECT_TRUE(limit.may_try("b", start));
}

TEST(GuessLimit, NeverHoldsUpOneWhoIsNotWrong) {
  guess_limit limit;
  limit.was_wrong("other", start);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(limit.may_try("a", start));
}

TEST(GuessLimit, LetsManySourcesTogetherGuessAHundredTimesASecond) {
  guess_limit limit;
  constexpr int sources = 500;
  const auto all = [&](guess_limit::clock::time_point now) {
    int looked_at = 0;
    for (int i = 0; i < sources; ++i) looked_at += guesses(limit, std::to_string(i), now);
    return looked_at;
  };
  const int first = all(start);
  EXPECT_LE(first, 1'000 + sources) << "each new source is looked at once";
  const int seconds = 60;
  int later = 0;
  for (int s = 1; s <= seconds; ++s) later += all(start + std::chrono::seconds(s));
  EXPECT_EQ(later, seconds * 100);
  EXPECT_TRUE(limit.may_try("somebody else", start + 60s));
}

TEST(GuessLimit, RemembersNoMoreSourcesThanItHasRoomFor) {
  guess_limit limit;
  for (std::size_t i = 0; i < guess_limit::most_sources; ++i) limit.was_wrong(std::to_string(i), start);
  EXPECT_FALSE(limit.may_try("one more", start)) << "it may have been wrong, too";
  limit.was_wrong("one more", start);
  EXPECT_TRUE(limit.may_try("one more", start + 1s));
  limit.was_wrong("one more", start + guess_limit::memory + 1s);
  EXPECT_TRUE(limit.may_try("another", start + guess_limit::memory + 1s)) << "the others are forgotten";
}

}  // namespace
}  // namespace everseen::server
