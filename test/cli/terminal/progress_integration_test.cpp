// The progress of a run on a terminal. script(1) provides the terminal, and prints everything written to it.

#include <algorithm>

#include "everseen/cli/terminal/progress.hpp"

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Progress : public test::Shell {
 protected:
  /// The content of a terminal that is the standard error of `command`, with a reader so slow that the run is
  /// long.
  [[nodiscard]] std::string on_a_terminal(const std::string& command) const {
    const auto result =
        sh("script -qec \"" + command + " | (sleep 1; cat > out)\" /dev/null < /dev/null 2>&1");
    EXPECT_EQ(result.exit_code, 0) << result.out;
    return result.out;
  }
};

constexpr const char* before_counts = "\r\x1b[Keverseen: 1,000,000 lines: ";

TEST_F(Progress, ShowsLinesRateShareAndTimeLeftOfAFileAndDisappears) {
  given("everseen gen ids --count 1M > ids");
  const std::string shown = on_a_terminal("everseen dedup ids");
  EXPECT_THAT(shown,
              testing::ContainsRegex("[0-9,]+ lines, [0-9,.]+ [kM]?/s, [0-9]+ %, [0-9]+:[0-9][0-9] left"));
  EXPECT_THAT(shown, HasSubstr(before_counts));
  EXPECT_EQ(std::ranges::count(shown, '\n'), 1) << "it is one line, rewritten, and then the counts";
}

TEST_F(Progress, ShowsLinesAndRateOfAPipe) {
  const std::string shown = on_a_terminal("everseen gen ids --count 1M | everseen dedup");
  EXPECT_THAT(shown, testing::ContainsRegex("[0-9,]+ lines, [0-9,.]+ [kM]?/s"));
  EXPECT_THAT(shown, Not(HasSubstr("left")));
  EXPECT_THAT(shown, HasSubstr(before_counts));
}

TEST_F(Progress, ShowsStoreAndJudgeOfAFilterOnAServer) {
  const test::redis_server server;
  given("everseen gen ids --count 500k > ids");
  EXPECT_THAT(on_a_terminal("everseen dedup --store " + server.url() + " --filter f ids"),
              testing::ContainsRegex("[0-9,.]+ [kM]?/s, [0-9]+ %, [0-9]+:[0-9][0-9] left, redis, [a-z]+"));
}

TEST_F(Progress, ShowsNothingForAShortRun) {
  given("echo a > a");
  EXPECT_EQ(on_a_terminal("everseen dedup -q a"), "");
  EXPECT_THAT(on_a_terminal("everseen dedup a"), testing::StartsWith("everseen: 1 line: 1 kept"));
}

TEST_F(Progress, ShowsNothingWhereStandardErrorIsNotATerminal) {
  given("everseen gen ids --count 1M > ids");
  EXPECT_THAT(sh("everseen dedup ids | (sleep 1; cat > out)"), test::Prints(""));
  EXPECT_EQ(on_a_terminal("everseen dedup ids 2> err"), "");
  EXPECT_THAT(sh("cat err"), test::Prints(""));
}

TEST_F(Progress, DoesNotMixWithLinesOnTheSameTerminal) {
  EXPECT_THAT(sh("script -qec '(echo a; sleep 0.5; echo b) | everseen dedup' /dev/null < /dev/null"),
              test::Prints(testing::StartsWith("a\r\nb\r\neverseen: 2 lines: ")));
}

TEST_F(Progress, DisappearsBeforeAMessage) {
  given("(everseen gen ids --count 1M | sed 's/^/x /'; echo odd) > ids");
  const auto result =
      sh("script -qec \"everseen dedup --key-field 2 --delimiter ' ' ids | (sleep 1; cat > out)\" /dev/null "
         "< /dev/null 2>&1");
  EXPECT_THAT(result.out, HasSubstr("\r\x1b[Keverseen: line 1000001 of ids "));
}

TEST(ProgressLine, ShowsKnownNumbers) {
  EXPECT_EQ(progress_line::text({2'500'000, 100}, 400, "", 2), "2,500,000 lines, 1.2 M/s, 25 %, 0:06 left");
  EXPECT_EQ(progress_line::text({2'500'000, 100}, {}, "", 2), "2,500,000 lines, 1.2 M/s");
  const event_time latest(std::chrono::milliseconds(1'700'000'000'500));
  EXPECT_EQ(progress_line::text({98'000, 1, {}, latest}, {}, "redis", 1),
            "98,000 lines, 98 k/s, at 2023-11-14T22:13:20, redis");
  EXPECT_EQ(progress_line::text({98'000, 1}, 10'000, "", 1), "98,000 lines, 98 k/s, 0 %, 2:46:39 left");
}

TEST(ProgressLine, NeverExceedsTheTotal) {
  EXPECT_EQ(progress_line::text({1, 3}, 2, "", 1), "1 lines, 1 /s, 100 %, 0:00 left");
  EXPECT_EQ(progress_line::text({1, 3}, 0, "", 1), "1 lines, 1 /s, 100 %, 0:00 left");
  EXPECT_EQ(progress_line::text({0, 0}, 0, "", 0), "0 lines, 0 /s");
}

TEST(ProgressLine, EndsWithStoreAndJudgeOfARemoteFilter) {
  EXPECT_EQ(progress_line::text({98'000, 1}, {}, "redis, script", 1), "98,000 lines, 98 k/s, redis, script");
}

}  // namespace
}  // namespace everseen::cli
