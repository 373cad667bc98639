#include "everseen/cli/planning/samples.hpp"

#include <array>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

namespace everseen::cli {
namespace {

template <typename Sample>
std::string line(const Sample& sample, std::uint64_t record) {
  std::array<char, Sample::max_chars> buffer;
  return {buffer.data(), sample.write(record, buffer.data())};
}

TEST(SampleWords, HaveFourToTwelveLettersAllEquallyOften) {
  constexpr std::uint64_t count = 90'000;
  const sample_words words(1);
  std::array<std::uint64_t, 13> lengths{};
  std::array<std::uint64_t, 26> letters{};
  std::uint64_t all_letters = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string word = line(words, i);
    ++lengths.at(word.size());
    for (const char c : word) ++letters.at(static_cast<std::size_t>(c - 'a'));
    all_letters += word.size();
  }
  // Six standard deviations of a binomial count.
  for (std::size_t n = 4; n <= 12; ++n)
    EXPECT_NEAR(double(lengths[n]), count / 9.0, 6 * std::sqrt(count / 9.0)) << n;
  const double expected = double(all_letters) / 26;
  for (std::size_t c = 0; c < 26; ++c)
    EXPECT_NEAR(double(letters[c]), expected, 6 * std::sqrt(expected)) << c;
}

TEST(SampleClicks, NeverShareAnId) {
  const sample_clicks clicks(3, {});
  std::unordered_set<std::string> ids;
  for (std::uint64_t i = 0; i < 100'000; ++i) ids.insert(line(clicks, i).substr(7, 16));
  EXPECT_EQ(ids.size(), 100'000);
}

TEST(SampleClicks, FitTheirBuffer) {
  click_options longest;
  longest.users = ~std::uint64_t{0};
  const sample_clicks clicks(1, longest);
  for (std::uint64_t i = 0; i < 100'000; ++i) ASSERT_LE(line(clicks, i).size(), sample_clicks::max_chars);
}

TEST(SampleIds, StayInTheirRange) {
  const sample_ids ids(1, 10, 5);
  std::unordered_set<std::string> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) seen.insert(line(ids, i));
  EXPECT_EQ(seen, (std::unordered_set<std::string>{"10", "11", "12", "13", "14"}));
}

TEST(Repeats, AreTheRequestedShare) {
  constexpr std::uint64_t count = 100'000;
  const repeats order(1, 0.25, 0);
  std::unordered_set<std::uint64_t> records;
  for (std::uint64_t place = 0; place < count; ++place) records.insert(order.record_at(place));
  EXPECT_NEAR(double(records.size()), 0.75 * count, 6 * std::sqrt(0.25 * 0.75 * count));
}

TEST(Repeats, FollowTheirOriginal) {
  const repeats order(2, 0.5, 100);
  std::unordered_set<std::uint64_t> records;
  for (std::uint64_t place = 0; place < 10'000; ++place) {
    const std::uint64_t record = order.record_at(place);
    ASSERT_TRUE(record == place || records.contains(record));
    records.insert(record);
  }
}

TEST(Repeats, OfAllLinesRepeatTheFirst) {
  const repeats order(1, 1, 0);
  EXPECT_EQ(order.record_at(0), 0);
  EXPECT_EQ(order.record_at(1'000'000), 0);
}

}  // namespace
}  // namespace everseen::cli
