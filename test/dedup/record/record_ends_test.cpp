#include "everseen/dedup/record/record_ends.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using ends = std::vector<std::uint32_t>;

ends naive(std::string_view text, char separator) {
  ends found;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == separator) found.push_back(static_cast<std::uint32_t>(i));
  return found;
}

ends find(std::string_view text, char separator) {
  ends found;
  find_record_ends(text, {separator}, found);
  return found;
}

/// The text alone in a heap block of its size, so that AddressSanitizer detects a read past its end.
std::vector<char> tight(std::string_view text) {
  return {text.begin(), text.end()};
}

TEST(RecordEnds, FindsASeparatorAtEveryPlaceOfEveryLength) {
  for (std::size_t length = 0; length <= 300; ++length) {
    std::vector<char> text(length, 'x');
    ASSERT_THAT(find({text.data(), length}, '\n'), ElementsAre()) << length;
    for (std::size_t position = 0; position < length; ++position) {
      text[position] = '\n';
      ASSERT_THAT(find({text.data(), length}, '\n'), ElementsAre(position)) << length;
      text[position] = 'x';
    }
  }
}

TEST(RecordEnds, AgreesWithANaiveSearch) {
  test::random_digests random(3);
  for (std::size_t length = 0; length <= 300; ++length)
    for (const unsigned alphabet : {1U, 2U, 10U, 256U}) {
      std::string text(length, '\0');
      for (char& c : text) c = static_cast<char>(random.word() % alphabet);
      const std::vector<char> alone = tight(text);
      for (const char separator : {'\0', '\x01', '\n', '\xff'})
        ASSERT_THAT(find({alone.data(), length}, separator), ElementsAreArray(naive(text, separator)));
    }
}

TEST(RecordEnds, AppendsToExistingEnds) {
  ends found = {7, 9};
  find_record_ends("a\nb\n" + std::string(100, 'c') + "\n", {}, found);
  EXPECT_THAT(found, ElementsAre(7, 9, 1, 3, 104));
}

const record_format csv_records{'\n', true};

ends naive_csv(std::string_view text) {
  ends found;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    inside = inside != (text[i] == '"');
    if (text[i] == '\n' && !inside) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

// Promise: a line break between the quotes of CSV belongs to its record (dedup, Keys and records).
TEST(RecordEnds, SkipsSeparatorsBetweenQuotes) {
  ends found;
  find_record_ends("a,\"b\nc\"\nd,\"e\"\"\n\"\"\"\n\n", csv_records, found);
  EXPECT_THAT(found, ElementsAre(7, 18, 19));
}

std::size_t last_end(std::string_view text, const record_format& format) {
  growing_records all(format);
  all.look_at(text);
  return all.last_end();
}

TEST(RecordEnds, AgreesWithANaiveSearchAmongQuotes) {
  test::random_digests random(4);
  for (std::size_t length = 0; length <= 400; ++length)
    for (const unsigned rarity : {3U, 10U, 60U}) {
      std::string text(length, 'x');
      for (char& c : text) {
        const auto which = random.word() % rarity;
        c = which == 0 ? '"' : which == 1 ? '\n' : 'x';
      }
      const std::vector<char> alone = tight(text);
      const std::string_view view{alone.data(), length};
      const ends expected = naive_csv(text);
      ends found;
      find_record_ends(view, csv_records, found);
      ASSERT_THAT(found, ElementsAreArray(expected)) << text;
      ASSERT_EQ(last_end(view, csv_records), expected.empty() ? 0 : expected.back() + 1U) << text;
      ASSERT_EQ(end_of_first_record(view, csv_records),
                expected.empty() ? std::string_view::npos : expected.front());
      ASSERT_EQ(ends_in_quotes(view, csv_records), std::ranges::count(text, '"') % 2 == 1);
      ASSERT_EQ(last_end(view, {}), text.rfind('\n') + 1);
      ASSERT_EQ(end_of_first_record(view, {}), text.find('\n'));
      ASSERT_FALSE(ends_in_quotes(view, {}));
    }
}

TEST(RecordEnds, KnowsTheLastOfATextThatGrows) {
  test::random_digests random(5);
  for (int round = 0; round < 500; ++round) {
    std::string text(400, 'x');
    for (char& c : text) {
      const auto which = random.word() % 20;
      c = which == 0 ? '"' : which == 1 ? '\n' : 'x';
    }
    growing_records csv(csv_records), lines(record_format{});
    std::size_t dropped = 0;
    for (std::size_t length = 0; length < text.size(); length += random.word() % 90) {
      const std::string_view all = std::string_view(text).substr(0, length);
      csv.look_at(all.substr(dropped));
      lines.look_at(all);
      const ends expected = naive_csv(all);
      const std::size_t end = expected.empty() ? 0 : expected.back() + 1U;
      ASSERT_EQ(csv.last_end(), end > dropped ? end - dropped : 0) << all;
      ASSERT_EQ(csv.is_in_quotes(), std::ranges::count(all, '"') % 2 == 1);
      ASSERT_EQ(lines.last_end(), all.rfind('\n') + 1);
      ASSERT_FALSE(lines.is_in_quotes());
      if (random.word() % 3 != 0) continue;
      csv.drop_records();
      dropped = std::max(dropped, end);
    }
  }
}

TEST(RecordEnds, FindsNothingInAnEmptyText) {
  EXPECT_THAT(find({}, '\n'), ElementsAre());
}

}  // namespace
}  // namespace everseen
