#include "everseen/telemetry/event_log.hpp"

#include <gtest/gtest.h>

namespace everseen::telemetry {

namespace {

std::string line(log_format format, std::string_view value) {
  const log_field fields[] = {{"why", value}, {"count", std::int64_t{-3}}};
  return log_line(format, "outage", fields);
}

TEST(LogLine, FollowsTheConfiguredFormat) {
  EXPECT_EQ(line(log_format::text, "gone"), "outage why=gone count=-3");
  EXPECT_EQ(line(log_format::logfmt, "it is gone"), R"(event=outage why="it is gone" count=-3)");
  EXPECT_EQ(line(log_format::json, "gone"), R"("event":"outage","why":"gone","count":-3)");
}

TEST(LogLine, StaysOneLineWithUntrustedText) {
  const std::string hostile = "a\nlevel=info \"x\" \\ \x1b[2J \xff";
  for (const log_format format : {log_format::text, log_format::json, log_format::logfmt}) {
    const std::string text = line(format, hostile);
    for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << text;
    EXPECT_NE(text.find(R"("a\u000alevel=info \"x\" \\ \u001b[2J \u00ff")"), std::string::npos) << text;
  }
  EXPECT_EQ(line(log_format::logfmt, ""), R"(event=outage why="" count=-3)");
}

}  // namespace

}  // namespace everseen::telemetry
