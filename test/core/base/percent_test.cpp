#include <string>

#include <gtest/gtest.h>

#include "everseen/core/base/url_text.hpp"

namespace everseen {
namespace {

TEST(Percent, DecodesWhatItEncodes) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  EXPECT_EQ(percent_decoded(percent_encoded(every)), every);
  EXPECT_EQ(percent_encoded("user:42/ü~"), "user%3A42%2F%C3%BC%7E");
  EXPECT_EQ(percent_encoded("/a b", "/"), "/a%20b");
}

TEST(Percent, RefusesAPercentSignWithoutTwoDigits) {
  for (const std::string_view text : {"%", "%4", "%zz", "a%4", "%-1", "%+1", "% 1"})
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

}  // namespace
}  // namespace everseen
