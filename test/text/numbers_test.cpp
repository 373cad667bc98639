#include "everseen/text/numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace std::chrono_literals;

std::uint64_t count(std::string_view text) {
  return parse_count("--capacity", text, {1, 1'000'000'000'000});
}

double rate(std::string_view text) {
  return parse_rate("--error-rate", text, {1e-15, 0.5});
}

std::chrono::milliseconds duration(std::string_view text) {
  return parse_duration("--window", text);
}

template <typename Call>
void expect_refusal(Call call, std::string_view text, const std::string& why) {
  EXPECT_THAT([&] { call(text); },
              ThrowsMessage<parameter_error>(testing::AllOf(HasSubstr(std::string(text)), HasSubstr(why))));
}

TEST(Counts, AcceptManyNotations) {
  EXPECT_EQ(count("1000000"), 1'000'000);
  EXPECT_EQ(count("1e6"), 1'000'000);
  EXPECT_EQ(count("1E+6"), 1'000'000);
  EXPECT_EQ(count("1M"), 1'000'000);
  EXPECT_EQ(count("1.5M"), 1'500'000);
  EXPECT_EQ(count("0.5k"), 500);
  EXPECT_EQ(count("2K"), 2000);
  EXPECT_EQ(count("3G"), 3'000'000'000);
  EXPECT_EQ(count("1T"), 1'000'000'000'000);
  EXPECT_EQ(count("64Mi"), 64 << 20);
  EXPECT_EQ(count("0.5Ki"), 512);
  EXPECT_EQ(count("1000e-2"), 10);
  EXPECT_EQ(count("1,000,000"), 1'000'000);
  EXPECT_EQ(count("1_000_000"), 1'000'000);
  EXPECT_EQ(count("12,345"), 12'345);
  EXPECT_EQ(count("1,000k"), 1'000'000);
  EXPECT_EQ(count("1MB"), 1'000'000);
  EXPECT_EQ(count("64MiB"), 64 << 20);
  EXPECT_EQ(count("7B"), 7);
  EXPECT_EQ(count("000000000000000000000000000000000000000000000007"), 7);
}

TEST(Counts, AcceptSeparatorsBetweenGroupsOfThreeDigitsOnly) {
  for (const auto* text :
       {"1,5", "1,00", "1,0000", ",100", "1000,000", "1,000_000", "1,,000", "1,000,", "1_", "BB", "B"})
    expect_refusal(count, text, "is not a number");
}

TEST(Counts, AreExactUpTo64Bits) {
  EXPECT_EQ(parse_count("--seed", "18446744073709551615", {0, ~std::uint64_t{0}}), ~std::uint64_t{0});
  EXPECT_THROW(static_cast<void>(parse_count("--seed", "18446744073709551616", {0, ~std::uint64_t{0}})),
               parameter_error);
}

TEST(Counts, OutOfBoundsAreRefusedWithTheBounds) {
  for (const auto* text : {"0", "-5", "0e9"})
    expect_refusal(count, text, "is too small; give a whole number from 1 to");
  for (const auto* text :
       {"1e30", "2T", "1e999999999999", "99999999999999999999999999999999999999999", "9e30G"})
    expect_refusal(count, text, "is too large");
}

TEST(Counts, FractionsAreRefused) {
  for (const auto* text : {"1.5", "1e-3", "0.0001k"}) expect_refusal(count, text, "is not a whole number");
  for (const auto* text : {"", "ten", "nan", "inf", "1e", "10 M", "0x10", "--3", "+1", ".", "M"})
    expect_refusal(count, text, "is not a number");
}

TEST(Counts, NameTheOption) {
  expect_refusal(count, "0", "--capacity 0 ");
}

TEST(Rates, MayBeNumbersOrPercentages) {
  EXPECT_EQ(rate("1e-6"), 1e-6);
  EXPECT_EQ(rate("0.001"), 0.001);
  EXPECT_EQ(rate("0.1%"), 0.001);
  EXPECT_EQ(rate("0.5"), 0.5);
}

TEST(Rates, OutOfBoundsAreRefusedWithTheBounds) {
  for (const auto* text : {"0", "1e-40", "-0.1", "1e-16"})
    expect_refusal(rate, text, "is too small; give a rate from 1e-15 to 0.5");
  for (const auto* text : {"2", "100%", "inf"}) expect_refusal(rate, text, "is too large");
  for (const auto* text : {"", "nan", "-nan", "1e-6x", "%", "one"})
    expect_refusal(rate, text, "is not a number");
  expect_refusal(rate, "1e-400", "is out of bounds");
}

TEST(Durations, HaveUnits) {
  EXPECT_EQ(duration("10m"), 10min);
  EXPECT_EQ(duration("1h30m"), 90min);
  EXPECT_EQ(duration("500ms"), 500ms);
  EXPECT_EQ(duration("86400s"), 24h);
  EXPECT_EQ(duration("1d"), 24h);
}

TEST(Durations, HaveUnitsInWords) {
  EXPECT_EQ(duration("4w"), 4 * 7 * 24h);
  EXPECT_EQ(duration("2weeks"), 14 * 24h);
  EXPECT_EQ(duration("30days"), 30 * 24h);
  EXPECT_EQ(duration("30 days"), 30 * 24h);
  EXPECT_EQ(duration("1day 2hours 5 min"), 26h + 5min);
  EXPECT_EQ(duration("2hrs"), 2h);
  EXPECT_EQ(duration("90secs"), 90s);
  EXPECT_EQ(duration("250 milliseconds"), 250ms);
}

TEST(Durations, HaveFractions) {
  EXPECT_EQ(duration("1.5h"), 90min);
  EXPECT_EQ(duration("0.25s"), 250ms);
}

TEST(Durations, InvalidValuesAreRefused) {
  expect_refusal(duration, "10", "has no known unit of time");
  expect_refusal(duration, "10M", "has no known unit of time");
  expect_refusal(duration, "2months", "in ms, s, m, h, d or w");
  expect_refusal(duration, "10 m ", "is not a length of time");
  expect_refusal(duration, "1.h", "is not a length of time");
  expect_refusal(duration, "0.5ms", "is not a length of time");
  expect_refusal(duration, "10y", "has no known unit of time");
  expect_refusal(duration, "h", "is not a length of time");
  expect_refusal(duration, "-5m", "is not a length of time");
  expect_refusal(duration, "", "is not a length of time");
  expect_refusal(duration, "0s", "is too short");
  expect_refusal(duration, "99999999999999999999s", "is too long");
  expect_refusal(duration, "36500d1ms", "is too long");
}

TEST(Durations, BelowTheMinimumAreRefused) {
  const auto life = [](std::string_view text) { return parse_duration("--expire", text, 1s); };
  EXPECT_EQ(life("1s"), 1s);
  expect_refusal(life, "999ms", "is too short; give a time from 1s to");
}

TEST(Durations, AreWrittenAsTheyAreRead) {
  for (const auto* text : {"10m", "1h30m", "500ms", "1d", "1d2h3m4s5ms"})
    EXPECT_EQ(format_duration(duration(text)), text);
}

TEST(Ranges, IncludeBothEnds) {
  const auto [first, last] = parse_range("--range", "1..10G", ~std::uint64_t{0});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, 10'000'000'000);
}

TEST(Ranges, InvalidValuesAreRefused) {
  const auto range = [](std::string_view text) { return parse_range("--range", text, 1000); };
  expect_refusal(range, "5", "is not a range");
  expect_refusal(range, "5..1", "ends before it begins");
  EXPECT_THROW(range("1..2000"), parameter_error);
  EXPECT_THROW(range("a..b"), parameter_error);
}

TEST(Formats, AreShortAndExact) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_bytes(64), "64 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(34.3 * 1024 * 1024), "34.3 MiB");
  EXPECT_EQ(format_bytes(1023.9), "1.00 KiB");
  EXPECT_EQ(format_rate(0), "0");
  EXPECT_EQ(format_rate(0.01), "0.01");
  EXPECT_EQ(format_rate(1e-6), "1.0e-06");
}

}  // namespace
}  // namespace everseen
