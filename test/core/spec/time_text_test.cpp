#include "everseen/core/spec/time_text.hpp"

#include <gtest/gtest.h>

namespace everseen {
namespace {

event_time in_ms(std::int64_t ms) {
  return event_time(std::chrono::milliseconds(ms));
}

TEST(TimeText, IsRfc3339InUtc) {
  EXPECT_EQ(format_event_time(in_ms(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_event_time(in_ms(1'700'000'000'500)), "2023-11-14T22:13:20.500Z");
  EXPECT_EQ(format_event_time(in_ms(253'402'300'799'999)), "9999-12-31T23:59:59.999Z");
}

TEST(TimeText, SaysMillisecondsWhereNoYearOfFourDigitsIs) {
  EXPECT_EQ(format_event_time(in_ms(253'402'300'800'000)), "253402300800000 ms");
  EXPECT_EQ(format_event_time(event_time::max()), "9223372036854775807 ms");
  EXPECT_EQ(format_event_time(event_time::min()), "-9223372036854775808 ms");
}

}  // namespace
}  // namespace everseen
