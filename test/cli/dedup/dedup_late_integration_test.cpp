// Lines whose times the window cannot judge: too old, or too far in the future.

#include <ctime>
#include <string>

#include "test/cli/shell.hpp"

namespace everseen {
namespace {

using test::Complains;
using test::Prints;
using testing::AllOf;
using testing::HasSubstr;

class DedupLate : public test::Shell {
 protected:
  /// The time of `b` is more than the window before that of `a`.
  static constexpr const char* with_a_late_line = "1700010000\ta\n1700000000\tb\n1700009999\tc\n";

  test::program_result dedup(const std::string& options, const std::string& input = with_a_late_line) const {
    return sh("everseen dedup --window 10m --time-field 1 --key-field 2 " + options, input);
  }
  static std::string in_seconds(long from_now) { return std::to_string(std::time(nullptr) + from_now); }
};

// Promise: late lines are dropped with a note, or as --late says (dedup, Late lines).
TEST_F(DedupLate, LineIsDroppedWithANoteByDefault) {
  for (const char* options : {"", "--late drop"}) {
    const auto result = dedup(options);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, "1700010000\ta\n1700009999\tc\n");
    EXPECT_THAT(result.err, AllOf(HasSubstr("1 of 3 lines"), HasSubstr("dropped"), HasSubstr("line 2"),
                                  HasSubstr("--late pass")));
  }
}

TEST_F(DedupLate, LineIsPrintedOnRequest) {
  const auto result = dedup("--late pass");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, with_a_late_line);
  EXPECT_THAT(result.err, AllOf(HasSubstr("1 of 3 lines"), HasSubstr("printed"), HasSubstr("line 2")));
}

TEST_F(DedupLate, LineIsNotARepeat) {
  EXPECT_EQ(dedup("--late pass --repeated").out, "");
}

// Promise: --late fail ends the run with all other lines judged and printed (dedup, Late lines).
TEST_F(DedupLate, LineEndsTheRunOnRequestWithAllOtherLinesPrinted) {
  for (const char* threads : {"1", "4"}) {
    const auto result = dedup(std::string("--late fail --threads ") + threads);
    EXPECT_THAT(result, Complains(4, "line 2", "older than the window"));
    EXPECT_EQ(result.out, "1700010000\ta\n1700009999\tc\n");
  }
}

TEST_F(DedupLate, LineIsNotNotedWhereTheCountsAreAnyway) {
  EXPECT_EQ(dedup("--stats").err.front(), '{');
}

TEST_F(DedupLate, OptionHasNoMeaningWithoutAWindow) {
  EXPECT_THAT(sh("everseen dedup --late pass", "a\n"), Complains(2, "--late", "--window"));
}

// Promise: one time in the far future does not close the window of dedup (dedup, Times in the future).
TEST_F(DedupLate, OneTimeInTheFarFutureDoesNotCloseTheWindow) {
  const std::string now = in_seconds(0);
  const std::string input = now + "\ta\n4000000000\tz\n" + now + "\ta\n" + now + "\tb\n";
  EXPECT_THAT(dedup("", input), Complains(4, "line 2", "too far ahead", "--max-ahead"));
  EXPECT_THAT(dedup("-q --missing-key drop", input), Prints(now + "\ta\n" + now + "\tb\n"));
  EXPECT_THAT(dedup("-q --missing-key pass", input), Prints(now + "\ta\n4000000000\tz\n" + now + "\tb\n"));
}

// Promise: times ahead of the clock by no more than the window are accepted (dedup, Times in the future).
TEST_F(DedupLate, AcceptsTimesAheadOfTheClockByAsMuchAsTheWindow) {
  const std::string soon = in_seconds(500);
  const std::string input = soon + "\ta\n" + in_seconds(0) + "\tb\n";
  EXPECT_THAT(dedup("", input), Prints(input)) << "and the present is not late then";
  EXPECT_THAT(dedup("--max-ahead 5m", input), Complains(4, "line 1", "ahead"));
  const std::string later = in_seconds(3000) + "\ta\n";
  EXPECT_THAT(dedup("", later), Complains(4, "line 1", "ahead"));
  EXPECT_THAT(dedup("--max-ahead 1h", later), Prints(later));
}

TEST_F(DedupLate, GuardsOnlyTimesFromTheLines) {
  EXPECT_THAT(sh("everseen dedup --window 1h --max-ahead 1m", "a\n"), Complains(2, "--max-ahead", "--time"));
}

}  // namespace
}  // namespace everseen
