#include "everseen/core/base/quantity.hpp"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;
using enum quantity_fault;

/// What each kind reads from a text; a fault where it is none.
struct reading {
  const char* text;
  struct {
    std::uint64_t value = 0;
    quantity_fault fault = quantity_fault::none;
  } count, redis_bytes, duration;
};

constexpr std::uint64_t minute = 60'000, hour = 60 * minute, day = 24 * hour;

const reading readings[] = {
    // numbers
    {"0", {0}, {0}, {0, no_unit}},
    {"1000000", {1'000'000}, {1'000'000}, {0, no_unit}},
    {"1,000,000", {1'000'000}, {0, no_number}, {0, no_unit}},
    {"1_000_000", {1'000'000}, {0, no_number}, {0, no_unit}},
    {"12,345", {12'345}, {0, no_number}, {0, no_unit}},
    {"1e6", {1'000'000}, {0, no_number}, {0, no_unit}},
    {"1E+6", {1'000'000}, {0, no_number}, {0, no_unit}},
    {"1000e-2", {10}, {0, no_number}, {0, no_unit}},
    {"00000000000000000000000000000000000000007", {7}, {7}, {0, no_unit}},
    {"18446744073709551615", {~std::uint64_t{0}}, {0, too_large}, {0, no_unit}},
    {"18446744073709551616", {0, too_large}, {0, too_large}, {0, no_unit}},
    {"1e30", {0, too_large}, {0, no_number}, {0, no_unit}},
    {"1e999999999999", {0, too_large}, {0, no_number}, {0, no_unit}},
    {"1.5", {0, not_whole}, {0, no_number}, {0, no_unit}},
    {"1e-3", {0, not_whole}, {0, no_number}, {0, no_unit}},
    // what is none of any kind
    {"", {0, no_number}, {0, no_number}, {0, no_number}},
    {"ten", {0, no_number}, {0, no_number}, {0, no_number}},
    {"nan", {0, no_number}, {0, no_number}, {0, no_number}},
    {".", {0, no_number}, {0, no_number}, {0, no_number}},
    {"M", {0, no_number}, {0, no_number}, {0, no_number}},
    {"+1", {0, no_number}, {0, no_number}, {0, no_number}},
    {"-1h", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1e", {0, no_number}, {0, no_number}, {0, no_number}},
    {"0x10", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1,5", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1,0000", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1000,000", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1,000_000", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1,,000", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1,000,", {0, no_number}, {0, no_number}, {0, no_number}},
    {"1_", {0, no_number}, {0, no_number}, {0, no_number}},
    {"10 M", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    // powers of 1000 and of 1024; Redis's kb is our Ki
    {"1k", {1'000}, {1'000}, {0, no_unit}},
    {"1K", {1'000}, {1'000}, {0, no_unit}},
    {"1kB", {1'000}, {1'024}, {0, no_unit}},
    {"1Ki", {1'024}, {0, no_unit}, {0, no_unit}},
    {"1KiB", {1'024}, {0, no_unit}, {0, no_unit}},
    {"1MB", {1'000'000}, {1 << 20}, {0, no_unit}},
    {"2mb", {0, no_unit}, {2 << 20}, {0, no_unit}},
    {"64Mi", {64 << 20}, {0, no_unit}, {0, no_unit}},
    {"3G", {3'000'000'000}, {3'000'000'000}, {0, no_unit}},
    {"1T", {1'000'000'000'000}, {0, no_unit}, {0, no_unit}},
    {"2TiB", {std::uint64_t{2} << 40}, {0, no_unit}, {0, no_unit}},
    {"7B", {7}, {7}, {0, no_unit}},
    {"7BB", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1,000k", {1'000'000}, {0, no_number}, {0, no_unit}},
    {"1.5M", {1'500'000}, {0, no_number}, {0, no_unit}},
    {"0.5Ki", {512}, {0, no_number}, {0, no_unit}},
    {".5k", {500}, {0, no_number}, {0, no_unit}},
    {"0.0001k", {0, not_whole}, {0, no_number}, {0, no_unit}},
    {"8589934591gb", {0, no_unit}, {9'223'372'035'781'033'984}, {0, no_unit}},
    {"8589934592gb", {0, no_unit}, {0, too_large}, {0, no_unit}},
    // times
    {"500ms", {0, no_unit}, {0, no_unit}, {500}},
    {"10m", {0, no_unit}, {10'000'000}, {10 * minute}},
    {"90secs", {0, no_unit}, {0, no_unit}, {90'000}},
    {"1h30m", {0, no_unit}, {0, no_unit}, {90 * minute}},
    {"1.5h", {0, no_unit}, {0, no_number}, {90 * minute}},
    {"0.25s", {0, no_unit}, {0, no_number}, {250}},
    {"1e3s", {0, no_unit}, {0, no_number}, {1'000'000}},
    {"1d", {0, no_unit}, {0, no_unit}, {day}},
    {"30 days", {0, no_unit}, {0, no_unit}, {30 * day}},
    {"1 day 2 hours 5 min", {0, no_unit}, {0, no_unit}, {26 * hour + 5 * minute}},
    {"0.5ms", {0, no_unit}, {0, no_number}, {0, not_whole}},
    {"1.0000000001s", {0, no_unit}, {0, no_number}, {0, not_whole}},
    {"9223372036854775807ms", {0, no_unit}, {0, no_unit}, {9'223'372'036'854'775'807}},
    {"9223372036854775807ms1ms", {0, no_unit}, {0, no_unit}, {0, too_large}},
    {"15250284453w", {0, no_unit}, {0, no_unit}, {0, too_large}},
    // neither months and years nor capitals
    {"2months", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1y", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1H", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1us", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1dayss", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1s1", {0, no_unit}, {0, no_unit}, {0, no_unit}},
    {"1h ", {0, no_unit}, {0, no_unit}, {0, no_number}},
    {"1h  2m", {0, no_unit}, {0, no_unit}, {0, no_number}},
    {"1h,2m", {0, no_unit}, {0, no_unit}, {0, no_number}},
};

// Promise: one grammar of numbers and units holds in options, URLs, configuration and HTTP; CONFIG SET and
// the module's arguments have Redis's units (operations, Numbers, sizes and times).
TEST(Quantity, OfEachKindIsReadFromOneGrammar) {
  for (const reading& each : readings) {
    const auto expect = [&](quantity kind, const auto& wanted, const char* name) {
      const auto [value, fault] = read_quantity(kind, each.text);
      EXPECT_EQ(fault, wanted.fault) << name << " '" << each.text << "'";
      if (wanted.fault == none) {
        EXPECT_EQ(value, wanted.value) << name << " '" << each.text << "'";
      }
    };
    expect(quantity::count, each.count, "count");
    expect(quantity::redis_bytes, each.redis_bytes, "bytes of Redis");
    expect(quantity::duration, each.duration, "duration");
  }
}

// Promise: a length of time has units from ms to weeks, short or in words (dedup, How times are written).
TEST(Quantity, HasEveryFormOfAUnitOfTime) {
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
    EXPECT_EQ(parse_duration("--window", text), 14 * 24h) << text;
}

TEST(Quantity, OfTimeIsWrittenAsItIsRead) {
  for (const auto* text : {"10m", "1h30m", "500ms", "1d", "1d2h3m4s5ms"})
    EXPECT_EQ(format_duration(parse_duration("--window", text)), text);
  EXPECT_EQ(format_duration(0ms), "0s");
}

template <typename Call>
void expect_refusal(Call call, const char* text, const std::string& why) {
  EXPECT_THAT([&] { (void)call(text); }, ThrowsMessage<parameter_error>(HasSubstr(why))) << text;
}

TEST(Quantity, IsRefusedWithTheOptionTheValueAndTheBounds) {
  const auto count = [](const char* text) { return parse_count("--capacity", text, {1, 1'000'000'000'000}); };
  expect_refusal(count, "0",
                 "--capacity 0 is too small; give a whole number from 1 to 1000000000000, as in 1000");
  expect_refusal(count, "-5", "--capacity -5 is too small");
  expect_refusal(count, "2T", "--capacity 2T is too large");
  expect_refusal(count, "1.5", "--capacity 1.5 is not a whole number");
  expect_refusal(count, "", "--capacity '' is not a number");
  expect_refusal(count, "10 M", "--capacity 10 M is not a number");

  const auto window = [](const char* text) { return parse_duration("--window", text); };
  expect_refusal(window, "10",
                 "--window 10 has no known unit of time; give a time from 1ms to 36500d in ms, s, m");
  expect_refusal(window, "h", "is not a length of time");
  expect_refusal(window, "0.5ms", "is not a length of time");
  expect_refusal(window, "0s", "is too short");
  expect_refusal(window, "99999999999999999999s", "is too long");
  expect_refusal(window, "36500d1ms", "is too long");
  const auto life = [](const char* text) { return parse_duration("--expire", text, {.least = 1s}); };
  EXPECT_EQ(life("1s"), 1s);
  expect_refusal(life, "999ms", "is too short; give a time from 1s to");

  const auto hidden = [](const char* text) { return parse_count("wait=", text, {0, 9}, shows_value::no); };
  expect_refusal(hidden, "word", "wait= is not a number; give a whole number from 0 to 9");
}

TEST(Rates, MayBeNumbersOrPercentages) {
  const auto rate = [](const char* text) { return parse_rate("--error-rate", text, {1e-15, 0.5}); };
  EXPECT_EQ(rate("1e-6"), 1e-6);
  EXPECT_EQ(rate("0.001"), 0.001);
  EXPECT_EQ(rate("0.1%"), 0.001);
  EXPECT_EQ(rate("0.5"), 0.5);
  for (const auto* text : {"0", "1e-40", "-0.1", "1e-16"})
    expect_refusal(rate, text, "is too small; give a rate from 1e-15 to 0.5");
  for (const auto* text : {"2", "100%", "inf"}) expect_refusal(rate, text, "is too large");
  for (const auto* text : {"", "nan", "-nan", "1e-6x", "%", "one"})
    expect_refusal(rate, text, "is not a number");
  expect_refusal(rate, "1e-400", "is out of bounds");
}

TEST(Ranges, IncludeBothEnds) {
  const auto [first, last] = parse_range("--range", "1..10G", ~std::uint64_t{0});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, 10'000'000'000);
  const auto range = [](const char* text) { return parse_range("--range", text, 1000); };
  expect_refusal(range, "5", "is not a range");
  expect_refusal(range, "5..1", "ends before it begins");
  expect_refusal(range, "1..2000", "is too large");
  expect_refusal(range, "a..b", "is not a number");
}

}  // namespace
}  // namespace everseen
