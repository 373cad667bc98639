#include "everseen/core/base/duration.hpp"

#include <gtest/gtest.h>

namespace everseen {
namespace {

using namespace std::chrono_literals;
using enum duration_fault;

std::chrono::milliseconds read(std::string_view text) {
  const auto [time, fault] = read_duration(text);
  EXPECT_EQ(fault, none) << text;
  return time;
}

duration_fault fault_of(std::string_view text) {
  return read_duration(text).fault;
}

// Promise: a length of time has units from ms to weeks, short or in words (dedup, How times are written).
TEST(Duration, HasUnitsFromMillisecondsToWeeks) {
  EXPECT_EQ(read("1h30m"), 90min);
  EXPECT_EQ(read("4w"), 28 * 24h);
  EXPECT_EQ(read("30days"), 30 * 24h);
  EXPECT_EQ(read("1 day 2 hours 5 min"), 26h + 5min);
  EXPECT_EQ(read("1.5h"), 90min);
  EXPECT_EQ(read("0s"), 0ms);
}

TEST(Duration, IsTheSameForEveryFormOfAUnit) {
  for (const char* text : {"2w",
                           "2week",
                           "2weeks",
                           "14d",
                           "14day",
                           "14days",
                           "336h",
                           "336hr",
                           "336hrs",
                           "336hour",
                           "336hours",
                           "20160m",
                           "20160min",
                           "20160mins",
                           "20160minutes",
                           "1209600s",
                           "1209600sec",
                           "1209600seconds",
                           "1209600000ms",
                           "1209600000msecs",
                           "1209600000millis",
                           "1209600000 milliseconds"})
    EXPECT_EQ(read(text), 14 * 24h) << text;
}

TEST(Duration, IsTooLongWhereItsPartsTogetherAre) {
  for (const char* text : {"9223372036854775807ms0.5d", "9223372036854775807ms1ms", "9223372036854775808ms",
                           "99999999999999999999w"})
    EXPECT_EQ(fault_of(text), too_long) << text;
  EXPECT_EQ(read("9223372036854775807ms"), std::chrono::milliseconds::max());
}

TEST(Duration, HasNoMonthsYearsOrCapitals) {
  for (const char* text : {"1", "1M", "1mo", "2months", "1y", "1year", "1H", "10 ", "1us", "1dayss", "1s1"})
    EXPECT_EQ(fault_of(text), no_unit) << text;
}

TEST(Duration, IsRefusedIfMalformed) {
  for (const char* text : {"", "h", "-1h", "+1h", "1.h", ".5h", "1..5h", "0.5ms", "1.0000000001s", " 1h",
                           "1h ", "1h  2m", "1h,2m"})
    EXPECT_NE(fault_of(text), none) << text;
}

TEST(Duration, NeverOverflows) {
  EXPECT_EQ(read("9223372036854775807ms").count(), 9'223'372'036'854'775'807);
  for (const char* text : {"9223372036854775808ms", "99999999999999999999s", "9223372036854775807ms1ms",
                           "15250284453w", "9223372036854775807.5s"})
    EXPECT_EQ(fault_of(text), too_long) << text;
}

}  // namespace
}  // namespace everseen
