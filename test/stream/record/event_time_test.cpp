#include "everseen/stream/record/event_time.hpp"

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
  EXPECT_EQ(ms("100000000000000"), std::nullopt) << "15 digits would be microseconds";
  EXPECT_EQ(ms("99999999999999999999999999"), std::nullopt);
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
  EXPECT_EQ(ms("2023-11-14T22:13:20+0100"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20+01"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20--1:00"), std::nullopt);
  EXPECT_EQ(ms("2023-11-14T22:13:20Z+01:00"), std::nullopt);
}

TEST(EventTime, RefusesEveryPrefixOfATime) {
  for (const std::string whole : {"2023-11-14T22:13:20.5+01:00", "2023-11-14 22:13:20Z"})
    for (std::size_t length = 5; length < whole.size(); ++length)
      EXPECT_EQ(ms(whole.substr(0, length)), std::nullopt) << whole.substr(0, length);
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
                                      "2023-11-14T22:13:20,5Z",
                                      "2023-11-14T22:13:20.Z",
                                      "2023-11-14X22:13:20Z",
                                      "2023-11-14T22:13:20Zjunk",
                                      "2023-11-14T22:13Z",
                                      "\xff\xff\xff\xff-"})
    if (text != "2023") {
      EXPECT_EQ(ms(text), std::nullopt) << text;
    }
  EXPECT_EQ(ms("2023"), 2'023'000) << "a year alone is 2023 seconds";
}

}  // namespace
}  // namespace everseen
