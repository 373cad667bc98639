#include "everseen/dedup/time/time_reader.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/time/event_time.hpp"

namespace everseen {
namespace {

std::optional<std::int64_t> ms(time_reader& reader, std::string_view text) {
  const std::vector<char> alone(text.begin(), text.end());
  const auto time = reader.read({alone.data(), alone.size()});
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

// Promise: a time without a zone is read only in the zone that --time-zone names (dedup, How times are
// written).
TEST(TimeReader, ReadsTimesWithoutAZoneOnlyInTheGivenOne) {
  constexpr std::int64_t moment = 1'700'000'000'000;  // 2023-11-14T22:13:20Z
  time_reader none, utc("", time_zone::of("UTC")), east("", time_zone::of("+01:00"));
  for (const std::string_view text :
       {"2023-11-14 22:13:20", "2023-11-14T22:13:20.000", "14/Nov/2023:22:13:20", "[14/Nov/2023:22:13:20",
        "2023/11/14 22:13:20"}) {
    EXPECT_EQ(ms(none, text), std::nullopt) << text;
    EXPECT_NE(none.advice(text).find("--time-zone"), std::string::npos) << none.advice(text);
    EXPECT_EQ(ms(utc, text), moment) << text;
    EXPECT_EQ(ms(east, text), moment - 3'600'000) << text;
  }
  EXPECT_EQ(ms(none, "2023-11-14"), 1'699'920'000'000) << "a date alone is of UTC";
  EXPECT_EQ(ms(utc, "2023-11-14"), 1'699'920'000'000);
  EXPECT_EQ(ms(east, "2023-11-14T22:13:20Z"), moment) << "its own zone counts";
  EXPECT_EQ(ms(east, "1700000000"), moment);
  EXPECT_NE(none.advice("yesterday").find("25/Nov/2026:08:30:00 +0000"), std::string::npos);
}

// In Berlin, clocks went from 02:00 to 03:00 on 31 March 2024, and from 03:00 back to 02:00 on 27 October.
// Promise: an hour that occurs twice in a zone is the first one, and one that is skipped is the next (dedup,
// How times are written).
TEST(TimeReader, KnowsWhenClocksAreSet) {
  time_reader berlin("", time_zone::of("Europe/Berlin"));
  const auto utc = [](std::string_view text) { return parse_event_time(text)->time_since_epoch().count(); };
  for (const auto& [local, moment] : std::vector<std::pair<std::string, std::string>>{
           {"2024-03-31 01:59:59.999", "2024-03-31T00:59:59.999Z"},
           {"2024-03-31 02:00:00", "2024-03-31T01:00:00Z"},
           {"2024-03-31 02:30:00", "2024-03-31T01:30:00Z"},
           {"2024-03-31 03:00:00", "2024-03-31T01:00:00Z"},
           {"2024-03-31 03:30:00", "2024-03-31T01:30:00Z"},
           {"2024-10-27 01:59:59", "2024-10-26T23:59:59Z"},
           {"2024-10-27 02:00:00", "2024-10-27T00:00:00Z"},
           {"2024-10-27 02:59:59", "2024-10-27T00:59:59Z"},
           {"2024-10-27 03:00:00", "2024-10-27T02:00:00Z"},
           {"2024-03-31", "2024-03-30T23:00:00Z"},
           {"0001-01-01 00:00:00", "0000-12-31T23:06:32Z"},
           {"9999-12-31 23:59:59", "9999-12-31T22:59:59Z"}})
    for (int again = 0; again < 2; ++again) {  // whatever was asked before
      EXPECT_EQ(ms(berlin, local), utc(moment)) << local;
      EXPECT_TRUE(ms(berlin, "2024-07-01 12:00:00"));
    }
}

TEST(TimeReader, RefusesUnknownZones) {
  for (const char* zone : {"", "CET+x", "+25:00", "+01:00x", "../zoneinfo/UTC", "/etc/passwd", "Europe",
                           "tzdata.zi", "Berlin", "local"})
    EXPECT_THROW((void)time_zone::of(zone), parameter_error) << zone;
}

TEST(TimeReader, ReadsByAFormat) {
  constexpr std::int64_t moment = 1'700'000'000'000;  // 2023-11-14T22:13:20Z
  time_reader german("%d.%m.%Y %H:%M:%S", time_zone::of("+01:00"));
  EXPECT_EQ(ms(german, "14.11.2023 23:13:20"), moment);
  EXPECT_EQ(ms(german, "31.11.2023 23:13:20"), std::nullopt);
  EXPECT_EQ(ms(german, "14.11.2023 23:13"), std::nullopt);
  EXPECT_EQ(ms(german, "14.11.23 23:13:20"), std::nullopt) << "not the year 23";
  EXPECT_EQ(ms(german, "14.11.2023 23:13:20 "), std::nullopt);
  EXPECT_EQ(ms(german, "1700000000"), std::nullopt) << "only the format is read";
  EXPECT_EQ(ms(german, std::string(500, '1')), std::nullopt);
  EXPECT_EQ(ms(german, {}), std::nullopt) << "nothing, which has no address";
  EXPECT_EQ(ms(german, std::string_view("14.11.2023 23:13:20\0", 20)), std::nullopt);
  EXPECT_NE(german.advice("x").find("%d.%m.%Y"), std::string::npos);
  time_reader zoned("%a, %d %b %Y %T %z", {});
  EXPECT_EQ(ms(zoned, "Tue, 14 Nov 2023 23:13:20 +0100"), moment);
  time_reader fine("%Y-%m-%d %H:%M:%S.%f", time_zone::of("UTC"));
  EXPECT_EQ(ms(fine, "2023-11-14 22:13:20.5"), moment + 500);
  EXPECT_EQ(ms(fine, "2023-11-14 22:13:20.0519999"), moment + 51);
  EXPECT_EQ(ms(fine, "2023-11-14 22:13:20." + std::string(60, '9')), moment + 999);
  EXPECT_EQ(ms(fine, "2023-11-14 22:13:20."), std::nullopt);
  EXPECT_EQ(ms(fine, "2023-11-14 22:13:20.5Z"), std::nullopt);
  time_reader half_days("%m/%d/%Y %I:%M:%S.%f %p", time_zone::of("UTC"));
  EXPECT_EQ(ms(half_days, "11/14/2023 10:13:20.5 PM"), moment + 500);
  EXPECT_EQ(ms(half_days, "11/14/2023 10:13:20.5 AM"), moment + 500 - 12 * 3'600'000);
}

TEST(TimeReader, ReadsDatesThatLookLikeNumbersByAFormat) {
  time_reader day("%Y%m%d", time_zone::of("UTC")), none;
  EXPECT_EQ(ms(day, "20231114"), 1'699'920'000'000);
  EXPECT_NE(none.advice("20231114").find("--time-format %Y%m%d and"), std::string::npos);
  EXPECT_NE(none.advice("202311142213").find("--time-format %Y%m%d%H%M and"), std::string::npos);
  EXPECT_NE(none.advice("20231114221320").find("--time-format %Y%m%d%H%M%S and"), std::string::npos);
  EXPECT_NE(none.advice("01/02/2026").find("--time-format, as in '%d/%m/%Y"), std::string::npos);
  time_reader months("%m/%d/%Y", time_zone::of("UTC")), days("%-d/%-m/%Y", time_zone::of("UTC"));
  EXPECT_EQ(ms(months, "11/14/2023"), 1'699'920'000'000);
  EXPECT_EQ(ms(days, "14/11/2023"), 1'699'920'000'000);
  EXPECT_EQ(ms(days, "11/14/2023"), std::nullopt);
}

TEST(TimeReader, RefusesFormatsThatSayTooLittle) {
  EXPECT_THROW(time_reader("%H:%M:%S", time_zone::of("UTC")), parameter_error);
  EXPECT_THROW(time_reader("%Y-%m-%d", {}), parameter_error);
  EXPECT_THROW(time_reader("%s", time_zone::of("UTC")), parameter_error);
  EXPECT_THROW(time_reader("%Y-%m-%d %H:%M:%S %Z", time_zone::of("UTC")), parameter_error);
  EXPECT_NO_THROW(time_reader("%Y-%m-%d %H:%M:%S %z (%Z)", {}));
  EXPECT_NO_THROW(time_reader("%Y-%m-%d %%Z", time_zone::of("UTC")));
  EXPECT_THROW(time_reader("%%Y", time_zone::of("UTC")), parameter_error);
  EXPECT_THROW(time_reader("%E", time_zone::of("UTC")), parameter_error);
  EXPECT_NO_THROW(time_reader("%Ey", time_zone::of("UTC")));
  EXPECT_THROW(time_reader("%", time_zone::of("UTC")), parameter_error);
}

TEST(TimeReader, ReadsNumbersOfOneUnit) {
  constexpr std::int64_t moment = 1'764'059'400'123;
  time_reader s("s", {}), ms_reader("ms", {}), us("us", {}), ns("ns", {});
  EXPECT_EQ(ms(s, "1764059400.123"), moment);
  EXPECT_EQ(ms(s, "1764059400.1239999"), moment) << "the millisecond in which it lies";
  EXPECT_EQ(ms(ms_reader, "1764059400123"), moment);
  EXPECT_EQ(ms(us, "1764059400123456"), moment);
  EXPECT_EQ(ms(ns, "1764059400123456789"), moment);
  EXPECT_EQ(ms(us, "1500"), 1) << "though its digits look like seconds";
  EXPECT_EQ(ms(ms_reader, "20261125"), 20'261'125) << "though it looks like a date";
  EXPECT_EQ(ms(s, "-1"), -1000);
  EXPECT_EQ(ms(us, "-1"), -1) << "before 1970, too, the millisecond in which it lies";
  EXPECT_EQ(ms(ms_reader, "-1"), -1);
  EXPECT_EQ(ms(ms_reader, "253402300799999"), 253'402'300'799'999) << "the last of the year 9999";
  for (const std::string_view text : {"", "-", ".5", "1.", "1e3", "0x1", " 1", "1 ", "+1",
                                      "2026-11-25T08:30:00Z", "253402300800000", "99999999999999999999999"})
    EXPECT_EQ(ms(ms_reader, text), std::nullopt) << text;
  EXPECT_NE(us.advice("x").find("number of us since 1970"), std::string::npos);
}

}  // namespace
}  // namespace everseen
