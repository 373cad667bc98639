#include "everseen/text/numbers.hpp"

#include <gtest/gtest.h>

namespace everseen {
namespace {

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
