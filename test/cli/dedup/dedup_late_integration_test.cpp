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
  const std::string time = in_seconds(0);
  const std::string input = time + "\ta\n4000000000\tz\n" + time + "\ta\n" + time + "\tb\n";
  EXPECT_THAT(dedup("", input), Complains(4, "line 2", "too far ahead", "--max-ahead"));
  EXPECT_THAT(dedup("-q --missing-key drop", input), Prints(time + "\ta\n" + time + "\tb\n"));
  EXPECT_THAT(dedup("-q --missing-key pass", input), Prints(time + "\ta\n4000000000\tz\n" + time + "\tb\n"));
}

TEST_F(DedupLate, LinesOfTodayAreNotBlamedForATimeInTheFuture) {
  const std::string command = "everseen dedup --filter f --window 10m --time 1 --key 2 --max-ahead 1d ";
  sh(command, in_seconds(3600) + "\ta\n");
  EXPECT_THAT(sh(command, in_seconds(0) + "\tb\n").err,
              AllOf(HasSubstr("1 of 1 lines were older than the window"), HasSubstr("a key had the time"),
                    HasSubstr("keys are late until"), HasSubstr("everseen reset f")));
  const auto added = sh("everseen add f b");
  EXPECT_EQ(added.out, "0 fresh, 0 seen, 1 late\n");
  EXPECT_THAT(added.err, HasSubstr("keys are late until"));
}

// Promise: times ahead of the clock by no more than a slice are accepted (dedup, Times in the future).
TEST_F(DedupLate, AcceptsTimesAheadOfTheClockByASlice) {
  const std::string soon = in_seconds(50);
  const std::string input = soon + "\ta\n" + in_seconds(0) + "\tb\n";
  EXPECT_THAT(dedup("", input), Prints(input)) << "and the present is not late then";
  EXPECT_THAT(dedup("--max-ahead 5s", input), Complains(4, "line 1", "ahead"));
  const std::string later = in_seconds(3000) + "\ta\n";
  EXPECT_THAT(dedup("", later), Complains(4, "line 1", "ahead"));
  EXPECT_THAT(dedup("--max-ahead 1h", later), Prints(later));
}

TEST_F(DedupLate, GuardsOnlyTimesFromTheLines) {
  EXPECT_THAT(sh("everseen dedup --window 1h --max-ahead 1m", "a\n"), Complains(2, "--max-ahead", "--time"));
}

const std::string access_log =
    "::1 - - [25/Nov/2025:00:00:00 +0000] a\n::1 - - [25/Nov/2025:00:05:00 +0000] a\n"
    "::1 - - [25/Nov/2025:00:30:00 +0000] a\n";

TEST_F(DedupLate, ReadsTheTimesOfAnAccessLog) {
  const std::string command = "everseen dedup --window 10m --delimiter ' ' --key 6 --time 4 ";
  EXPECT_THAT(sh(command, access_log), Complains(4, "line 1", "has no zone", "--time-zone UTC"));
  EXPECT_THAT(sh(command + "--time-zone UTC", access_log),
              Prints("::1 - - [25/Nov/2025:00:00:00 +0000] a\n::1 - - [25/Nov/2025:00:30:00 +0000] a\n"));
}

// Promise: a time without a zone is read only in the zone that --time-zone names (dedup, How times are
// written).
TEST_F(DedupLate, ReadsTimesInTheGivenZone) {
  // In the night of 26 October 2025, clocks in Berlin went from 03:00 back to 02:00.
  const std::string rows = "a,2025-10-26 01:59:59\na,2025-10-26 03:00:00\n";
  const std::string command = "everseen dedup --delimiter , --key 1 --time 2 ";
  EXPECT_THAT(sh(command + "--window 90m --slices 90", rows),
              Complains(4, "2025-10-26 01:59:59", "--time-zone"));
  EXPECT_THAT(sh(command + "--window 90m --slices 90 --time-zone UTC", rows),
              Prints("a,2025-10-26 01:59:59\n"));
  EXPECT_THAT(sh(command + "--window 90m --slices 90 --time-zone Europe/Berlin", rows), Prints(rows));
  EXPECT_THAT(sh(command + "--window 3h --time-zone Europe/Berlin", rows), Prints("a,2025-10-26 01:59:59\n"));
  EXPECT_THAT(sh("TZ=Asia/Tokyo " + command + "--window 90m --slices 90 --time-zone Europe/Berlin", rows),
              Prints(rows));
  for (const char* zone : {"CET+x", "local", "../zoneinfo/UTC", "/etc/passwd", "Europe", "''"})
    EXPECT_THAT(sh(command + "--window 1h --time-zone " + zone, rows),
                Complains(2, "time zone", "Europe/Berlin", "tzdata"));
}

TEST_F(DedupLate, ReadsDatesAndRefusesThoseThatMeanTwo) {
  const std::string command = "everseen dedup --delimiter , --key 1 --time 2 --window 2d ";
  const std::string dates = "a,2025-11-24\na,2025-11-25\na,2025-11-29\n";
  EXPECT_THAT(sh(command, dates), Prints("a,2025-11-24\na,2025-11-29\n"));
  EXPECT_THAT(sh(command, "a,01/02/2025\n"),
              Complains(4, "'01/02/2025'", "--time-format, as in '%d/%m/%Y", "2026-11-25T08:30:00Z"));
  EXPECT_THAT(sh(command, "a,20251124\n"), Complains(4, "'20251124'", "--time-format %Y%m%d"));
  EXPECT_THAT(sh(command + "--time-format %d/%m/%Y --time-zone UTC", "a,01/02/2025\na,03/02/2025\n"),
              Prints("a,01/02/2025\n"));
  EXPECT_THAT(sh(command + "--time-format %m/%d/%Y --time-zone UTC", "a,01/02/2025\na,03/02/2025\n"),
              Prints("a,01/02/2025\na,03/02/2025\n"));
}

TEST_F(DedupLate, ReadsTimesOfAGivenForm) {
  const std::string rows = "a\t24.12.2024 18:00:00\na\t24.12.2024 18:05:00\na\t24.12.2024 20:00:00\n";
  const std::string command =
      "everseen dedup --window 10m --key 1 --time 2 --time-format '%d.%m.%Y %H:%M:%S' ";
  EXPECT_THAT(sh(command, rows), Complains(2, "%z", "--time-zone"));
  EXPECT_THAT(sh(command + "--time-zone +01:00", rows),
              Prints("a\t24.12.2024 18:00:00\na\t24.12.2024 20:00:00\n"));
  EXPECT_THAT(sh(command + "--time-zone UTC", "a\tsoon\n"),
              Complains(4, "'soon'", "not of the form '%d.%m.%Y"));
  EXPECT_THAT(sh("everseen dedup --time-zone UTC", rows), Complains(2, "--time-zone", "--time"));
}

TEST_F(DedupLate, NamesTheFormsOfTimesThatItReads) {
  EXPECT_THAT(dedup("", "yesterday\ta\n"),
              Complains(4, "2026-11-25T08:30:00Z", "25/Nov/2026:08:30:00 +0000", "--time-format"));
  EXPECT_THAT(sh("everseen create w --window 10m -q && everseen add w --time yesterday a"),
              Complains(2, "2026-11-25T08:30:00Z"));
  EXPECT_THAT(sh("everseen dedup --window 2months", "a\n"), Complains(2, "ms, s, m, h, d or w"));
}

}  // namespace
}  // namespace everseen
