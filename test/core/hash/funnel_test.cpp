#include "everseen/core/hash/funnel.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

std::string applied(funnel_kind kind, std::string_view key) {
  std::string element;
  apply_funnel(kind, key, element);
  return element;
}

TEST(Funnel, OfBytesChangesNothing) {
  EXPECT_EQ(applied(funnel_kind::bytes, std::string_view("\0\xff", 2)), std::string_view("\0\xff", 2));
}

TEST(Funnel, OfCharsIsLittleEndianUtf16) {
  EXPECT_EQ(applied(funnel_kind::chars, "aé布"), std::string_view("a\0\xe9\0\x03\x5e", 6));
  EXPECT_EQ(applied(funnel_kind::chars, "😀"), std::string_view("\x3d\xd8\x00\xde", 4));
}

TEST(Funnel, OfNumbersIsLittleEndianTwosComplement) {
  EXPECT_EQ(applied(funnel_kind::int32, "258"), std::string_view("\x02\x01\0\0", 4));
  EXPECT_EQ(applied(funnel_kind::int32, "-2147483648"), std::string_view("\0\0\0\x80", 4));
  EXPECT_EQ(applied(funnel_kind::int64, "-1"), std::string(8, '\xff'));
}

TEST(Funnel, RefusesInvalidUtf8) {
  for (const char* const bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                                "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "a\xe5\xb8"})
    EXPECT_THROW(applied(funnel_kind::chars, bad), parameter_error);
}

TEST(Funnel, RefusesNumbersOutsideItsType) {
  for (const char* const bad : {"", " 1", "1 ", "1.0", "+1", "2147483648", "-2147483649", "x"})
    EXPECT_THROW(applied(funnel_kind::int32, bad), parameter_error) << bad;
  EXPECT_THROW(applied(funnel_kind::int64, "9223372036854775808"), parameter_error);
}

TEST(Funnel, QuotesOnlyTheBeginningOfALongKey) {
  const std::string refusal = funnel_refusal(funnel_kind::int32, std::string(100'000, 'x'));
  EXPECT_EQ(refusal, "the key '" + std::string(60, 'x') + "...' is not a whole number of 32 bits");
}

TEST(Funnel, IsFoundByName) {
  for (const funnel_kind each :
       {funnel_kind::bytes, funnel_kind::chars, funnel_kind::int32, funnel_kind::int64})
    EXPECT_EQ(parse_funnel_kind(to_string(each)), each);
  EXPECT_EQ(parse_funnel_kind("string"), funnel_kind::bytes);
  EXPECT_EQ(parse_funnel_kind("string:utf-8"), funnel_kind::bytes);
  EXPECT_EQ(parse_funnel_kind("string:utf-16le"), funnel_kind::chars);
  EXPECT_EQ(parse_funnel_kind("string:iso-8859-1"), std::nullopt);
  EXPECT_EQ(parse_funnel_kind("double"), std::nullopt);
}

}  // namespace
}  // namespace everseen
