#include "everseen/cli/terminal/time_format.hpp"

#include <gtest/gtest.h>

#include "everseen/stream/record/event_time.hpp"

namespace everseen::cli {
namespace {

TEST(TimeFormat, IsReadBackAsTheSameTime) {
  for (const auto* text :
       {"2023-11-14T22:13:20.500Z", "1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z",
        "2024-02-29T12:00:00.001Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"}) {
    const auto time = parse_event_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(format_event_time(*time), text);
  }
}

}  // namespace
}  // namespace everseen::cli
