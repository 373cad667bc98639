#include "everseen/server/registry/key_names.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "everseen/core/spec/spec.hpp"

namespace everseen::server {
namespace {

using namespace std::string_literals;

TEST(KeyNames, ThatAreValidNamesStandForTheFilterOfThatName) {
  EXPECT_EQ(filter_name_of("clicks-2025.01_a"), "clicks-2025.01_a");
}

TEST(KeyNames, OfOtherBytesAreEscaped) {
  EXPECT_EQ(filter_name_of("user:42:seen"), "esc.user.3a42.3aseen");
  EXPECT_EQ(filter_name_of(".hidden"), "esc..2ehidden");
  EXPECT_EQ(filter_name_of(""), "esc.");
  EXPECT_EQ(filter_name_of("\0\xff"s), "esc..00.ff");
}

TEST(KeyNames, ThatLookEscapedAreEscapedAgain) {
  EXPECT_EQ(filter_name_of("esc.a"), "esc.esc.2ea");
}

TEST(KeyNames, ThatDoNotFitAreRefused) {
  EXPECT_EQ(filter_name_of(std::string(101, 'a')), std::nullopt);
  EXPECT_EQ(filter_name_of(std::string(33, ':')), std::nullopt);
  EXPECT_NE(filter_name_of(std::string(32, ':')), std::nullopt);
}

TEST(KeyNames, OfFiltersThatNoKeyStandsForAreNone) {
  EXPECT_EQ(key_of("esc.plain"), std::nullopt);
  EXPECT_EQ(key_of("esc..3A"), std::nullopt);
  EXPECT_EQ(key_of("esc..4"), std::nullopt);
}

// Promise: no two keys share a filter's name (operations, Bloom commands).
RC_GTEST_PROP(KeyNames, ComeBackFromTheirFilterNames, (const std::string& key)) {
  const auto name = filter_name_of(key);
  RC_PRE(name.has_value());
  validate_filter_name(*name);
  RC_ASSERT(key_of(*name) == key);
}

}  // namespace
}  // namespace everseen::server
