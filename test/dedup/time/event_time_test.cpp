#include "everseen/dedup/time/event_time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/spec/time_text.hpp"

namespace everseen {
namespace {

/// Milliseconds of a text without anything readable after it, or nothing.
std::optional<std::int64_t> ms(std::string_view text) {
  const std::vector<char> alone(text.begin(), text.end());
  const auto time = parse_event_time({alone.data(), alone.size()});
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

TEST(EventTime, ReadsSecondsAndMilliseconds) {
  EXPECT_EQ(ms("0"), 0);
  EXPECT_EQ(ms("1700000000"), 1'700'000'000'000);
  EXPECT_EQ(ms("99999999999"), 99'999'999'999'000) << "11 digits are seconds";
  EXPECT_EQ(ms("100000000000"), 100'000'000'000) << "12 digits are milliseconds";
  EXPECT_EQ(ms("1700000000123"), 1'700'000'000'123);
  EXPECT_EQ(ms("99999999999999"), 99'999'999'999'999);
  EXPECT_EQ(ms("99999999999999999999999999"), std::nullopt);
}

TEST(EventTime, ReadsMicrosecondsAndNanoseconds) {
  EXPECT_EQ(ms("100000000000000"), 100'000'000'000) << "15 digits are microseconds";
  EXPECT_EQ(ms("1700000000123456"), 1'700'000'000'123);
  EXPECT_EQ(ms("-1700000000123456"), -1'700'000'000'124) << "rounded down";
  EXPECT_EQ(ms("1700000000123456789"), 1'700'000'000'123);
  EXPECT_EQ(ms("9223372036854775807"), 9'223'372'036'854);
  EXPECT_EQ(ms("9223372036854775808"), std::nullopt);
}

TEST(EventTime, ReadsFractionsOfSeconds) {
  EXPECT_EQ(ms("1700000000.5"), 1'700'000'000'500);
  EXPECT_EQ(ms("1700000000.05"), 1'700'000'000'050);
  EXPECT_EQ(ms("1700000000.1239999999999"), 1'700'000'000'123) << "cut off, not rounded";
  EXPECT_EQ(ms("1700000000."), std::nullopt);
  EXPECT_EQ(ms(".5"), std::nullopt);
  EXPECT_EQ(ms("1700000000123.5"), std::nullopt);
  EXPECT_EQ(ms("1e9"), std::nullopt);
}

TEST(EventTime, ReadsTimesBefore1970) {
  EXPECT_EQ(ms("-1"), -1'000);
  EXPECT_EQ(ms("-1.5"), -1'500);
  EXPECT_EQ(ms("-0.5"), -500);
  EXPECT_EQ(ms("-100000000000"), -100'000'000'000);
  EXPECT_EQ(ms("1969-12-31T23:59:59.999Z"), -1);
}

TEST(EventTime, ReadsRfc3339) {
  constexpr std::int64_t moment = 1'700'000'000'000;  // 2023-11-14T22:13:20Z
  EXPECT_EQ(ms("2023-11-14T22:13:20Z"), moment);
  EXPECT_EQ(ms("2023-11-14t22:13:20z"), moment);
  EXPECT_EQ(ms("2023-11-14 22:13:20Z"), moment);
  EXPECT_EQ(ms("2023-11-14T22:13:20.5Z"), moment + 500);
  EXPECT_EQ(ms("2023-11-14T22:13:20.123456789Z"), moment + 123);
  EXPECT_EQ(ms("2023-11-14T23:13:20+01:00"), moment);
  EXPECT_EQ(ms("2023-11-14T16:43:20-05:30"), moment);
  EXPECT_EQ(ms("2023-11-15T22:12:20+23:59"), moment);
  EXPECT_EQ(ms("2023-11-14T22:13:20-00:00"), moment);
}

TEST(EventTime, ReadsWhatProgramsWriteInstead) {
  constexpr std::int64_t moment = 1'700'000'000'000;  // 2023-11-14T22:13:20Z
  EXPECT_EQ(ms("2023-11-14T23:13:20+0100"), moment);
  EXPECT_EQ(ms("2023-11-14T22:13:20+0000"), moment);
  EXPECT_EQ(ms("2023-11-14T22:13:20+00"), moment);
  EXPECT_EQ(ms("2023-11-14 22:13:20 UTC"), moment);
  EXPECT_EQ(ms("2023-11-14 22:13:20 GMT"), moment);
  EXPECT_EQ(ms("2023-11-14 23:13:20 +0100"), moment);
  EXPECT_EQ(ms("2023/11/14 22:13:20Z"), moment);
  EXPECT_EQ(ms("2023-11-14 22:13:20,123Z"), moment + 123);
  EXPECT_EQ(ms("2023-11-14T22:13Z"), moment - 20'000);
  EXPECT_EQ(ms("14/Nov/2023:22:13:20 +0000"), moment);
  EXPECT_EQ(ms("[14/Nov/2023:17:13:20 -0500]"), moment);
}

TEST(EventTime, RefusesOddAccessLogs) {
  for (const std::string_view text :
       {"14/nov/2023:22:13:20 +0000", "31/Nov/2023:22:13:20 +0000", "14/Nov/23:22:13:20 +0000",
        "14/anF/2023:22:13:20 +0000", "14/11/2023:22:13:20 +0000", "11/14/2023",
        "14/Nov/2023:22:13:20 +0000]", "14/No", "[14/Nov/2023", "01/02/2026", "01/02/2026 08:00:00",
        "01.02.2026"})
    EXPECT_EQ(ms(text), std::nullopt) << text;
}

// Promise: a date alone is its midnight in UTC, or in the zone that --time-zone names (dedup, How times are
// written).
TEST(EventTime, OfADateIsItsMidnight) {
  EXPECT_EQ(ms("2023-11-14"), 1'699'920'000'000);
  EXPECT_EQ(ms("2023/11/14"), 1'699'920'000'000);
  EXPECT_EQ(ms("2023-11-31"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14Z"), std::nullopt);
}

TEST(EventTime, MayHaveNoSeparators) {
  constexpr std::int64_t moment = 1'700'000'000'000;  // 2023-11-14T22:13:20Z
  EXPECT_EQ(ms("20231114T221320Z"), moment);
  EXPECT_EQ(ms("20231114T231320.5+0100"), moment + 500);
  EXPECT_EQ(ms("20231114T2213Z"), moment - 20'000);
  for (const std::string_view text : {"20231114T221320", "20231114T", "20231114T22Z", "20231114T22:13:20Z",
                                      "20231131T221320Z", "2023111T4221320Z", "20231114 221320Z"})
    EXPECT_EQ(ms(text), std::nullopt) << text;
}

// Promise: forms of a date that could mean two moments are refused, with the options that decide (dedup, How
// times are written).
TEST(EventTime, RefusesNumbersThatLookLikeDates) {
  for (const std::string_view text : {"20231114", "19000101", "21001231", "202311142213", "20231114221320"})
    EXPECT_EQ(ms(text), std::nullopt) << text;
  EXPECT_EQ(ms("20231131"), 20'231'131'000) << "there is no 31 November";
  EXPECT_EQ(ms("18991231"), 18'991'231'000);
  EXPECT_EQ(ms("202313142213"), 202'313'142'213);
  EXPECT_EQ(ms("20231114.5"), 20'231'114'500);
}

TEST(EventTime, KnowsTheCalendar) {
  EXPECT_EQ(ms("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(ms("2024-02-29T00:00:00Z"), 1'709'164'800'000);
  EXPECT_EQ(ms("2023-02-29T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("2000-02-29T00:00:00Z"), 951'782'400'000);
  EXPECT_EQ(ms("1900-02-29T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("2023-04-31T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("2023-00-10T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("2023-13-10T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("2023-01-00T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("0000-01-01T00:00:00Z"), -62'167'219'200'000);
  EXPECT_EQ(ms("9999-12-31T23:59:59.999Z"), 253'402'300'799'999);
  EXPECT_EQ(ms("2023-01-01T24:00:00Z"), std::nullopt);
  EXPECT_EQ(ms("2023-01-01T23:60:00Z"), std::nullopt);
  EXPECT_EQ(ms("2023-01-01T23:59:61Z"), std::nullopt);
}

TEST(EventTime, ReadsALeapSecondAsTheFirstOfTheNextMinute) {
  EXPECT_EQ(ms("2016-12-31T23:59:60Z"), ms("2017-01-01T00:00:00Z"));
  EXPECT_EQ(ms("2016-12-31T23:59:60.25Z"), ms("2017-01-01T00:00:00.25Z"));
}

TEST(EventTime, RefusesInvalidOffsets) {
  EXPECT_EQ(ms("2023-11-14T22:13:20"), std::nullopt) << "without a zone it is ambiguous";
  EXPECT_EQ(ms("2023-11-14T22:13:20+24:00"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20+01:60"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20+99:99"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20+010"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20+01000"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20+2400"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20 "), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20 CET"), std::nullopt) << "names of zones mean several";
  EXPECT_EQ(ms("2023-11-14T22:13:20--1:00"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20Z+01:00"), std::nullopt);
}

TEST(EventTime, RefusesEveryPrefixOfATime) {
  for (const std::string whole : {"2023-11-14T22:13:20.5+01:00", "2023-11-14 22:13:20Z"})
    for (std::size_t length = 5; length < whole.size(); ++length)
      if (const std::string part = whole.substr(0, length); part.size() != 10 && !part.ends_with("+01")) {
        EXPECT_EQ(ms(part), std::nullopt) << part;
      }
}

TEST(EventTime, ReadsWhatIsPrinted) {
  for (const auto* text :
       {"2023-11-14T22:13:20.500Z", "1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z",
        "2024-02-29T12:00:00.001Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"}) {
    const auto time = parse_event_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(format_event_time(*time), text);
  }
}

TEST(EventTime, RefusesGarbage) {
  for (const std::string_view text : {"",
                                      " ",
                                      "-",
                                      "+",
                                      "--1",
                                      "+1",
                                      "1 ",
                                      " 1",
                                      "1\r",
                                      "0x10",
                                      "nan",
                                      "inf",
                                      "today",
                                      "2023",
                                      "20-3-11-14",
                                      "-023-11-14T22:13:20Z",
                                      "2023-1-14T22:13:20Z",
                                      "2023-+1-14T22:13:20Z",
                                      "2023--1-14T22:13:20Z",
                                      "2023-11-14T-1:13:20Z",
                                      "2023-11-14T22:13:20,Z",
                                      "2023-11-14T22:13:20.Z",
                                      "2023-11-14X22:13:20Z",
                                      "2023-11-14T22:13:20Zjunk",
                                      "2023-11/14T22:13Z",
                                      "2023-11-14T22Z",
                                      "\xff\xff\xff\xff-"})
    if (text != "2023") {
      EXPECT_EQ(ms(text), std::nullopt) << text;
    }
  EXPECT_EQ(ms("2023"), 2'023'000) << "a year alone is 2023 seconds";
}

}  // namespace
}  // namespace everseen
