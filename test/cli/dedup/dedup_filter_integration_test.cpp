// `everseen dedup` with filters that are kept, and with windows.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"
#include "test/support/places.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using test::Complains;
using test::Prints;
using testing::AllOf;
using testing::Field;
using testing::HasSubstr;

class DedupFilter : public test::Shell {
 protected:
  [[nodiscard]] bool exists(const std::string& name) const {
    return sh("everseen info " + name).exit_code == 0;
  }
};

// ---- filters

TEST_F(DedupFilter, RemembersAcrossRuns) {
  EXPECT_THAT(sh("everseen dedup --filter urls", "a\nb\n"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls", "b\nc\n"), Prints("c\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls --repeated", "a\nd\n"), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup --filter other", "a\n"), Prints("a\n"));
}

TEST_F(DedupFilter, KeepsNothingWithoutAName) {
  EXPECT_THAT(sh("everseen dedup", "a\n"), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup", "a\n"), Prints("a\n"));
  EXPECT_FALSE(std::filesystem::exists(directory() / "store"));
}

TEST_F(DedupFilter, SharesItsFilterWithTheOtherVerbs) {
  given("everseen create urls --error-rate 1e-9 && everseen add urls a > /dev/null");
  EXPECT_THAT(sh("everseen dedup --filter urls", "a\nb\n"), Prints("b\n"));
  EXPECT_EQ(sh("everseen check urls b").exit_code, 0);
}

TEST_F(DedupFilter, UsesTheNamedStore) {
  EXPECT_THAT(sh("everseen dedup --filter urls --store file:elsewhere", "a\n"), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls", "a\n"), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls --store file:elsewhere", "a\n"), Prints(""));
}

TEST_F(DedupFilter, RefusesAStoreWithoutAName) {
  EXPECT_THAT(sh("everseen dedup --store file:elsewhere", "a\n"), Complains(2, "--store", "--filter"));
}

TEST_F(DedupFilter, RefusesToKeepAFilterInAStoreThatEndsWithTheRun) {
  EXPECT_THAT(sh("everseen dedup --filter urls --store mem:", "a\n"), Complains(2, "mem:", "file:"));
  EXPECT_THAT(sh("EVERSEEN_STORE=mem: everseen dedup --filter urls", "a\n"), Complains(2, "mem:", "file:"));
  EXPECT_THAT(sh("EVERSEEN_STORE=mem: everseen dedup", "a\n"), Prints("a\n"));
}

TEST_F(DedupFilter, UsesAKeyedHashForUntrustedKeys) {
  EXPECT_THAT(sh("everseen dedup --filter urls --hash siphash", "a\nb\na\n"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls --hash siphash", "b\nc\n"), Prints("c\n"));
}

TEST_F(DedupFilter, RefusesAnEmptyName) {
  EXPECT_EQ(sh("everseen dedup --filter ''", "a\n").exit_code, 2);
}

TEST_F(DedupFilter, NamedLikeAPathLeavesNothingOutsideItsStore) {
  EXPECT_THAT(sh("everseen dedup --filter ../up --store file:in/store && ls in", "a\n"),
              Prints("a\nstore\n"));
}

TEST_F(DedupFilter, RefusesTheSecondOfTwoRunsOnOneFilterWithAdvice) {
  auto waiting = setup();
  waiting.piped_input = true;
  test::running_program first({test::everseen_program(), "dedup", "--filter", "urls"}, waiting);
  first.write("a\n");
  ASSERT_TRUE(first.waits_to_say("a\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls", "b\n"),
              AllOf(Complains(3, "(everseen) is writing to", "urls", "--wait"),
                    Field(&test::program_result::out, "")));
  first.close_input();
  EXPECT_THAT(first.wait(), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup --filter urls", "a\nb\n"), Prints("b\n"));
}

TEST_F(DedupFilter, RefusesOptionsThatContradictTheFilter) {
  given("echo a | everseen dedup --filter urls --error-rate 1e-4 --capacity 1000");
  const std::string again = "everseen dedup --filter urls ";
  EXPECT_THAT(sh(again + "--error-rate 1e-6", "b\n"), Complains(2, "--error-rate", "urls", "0.0001"));
  EXPECT_THAT(sh(again + "--capacity 5", "b\n"), Complains(2, "--capacity", "urls", "1000"));
  EXPECT_THAT(sh(again + "--hash siphash", "b\n"), Complains(2, "--hash", "urls", "xxh3"));
  EXPECT_THAT(sh(again + "--window 1h", "b\n"), Complains(2, "--window", "urls", "none"));
  EXPECT_THAT(sh(again + "--slices 4", "b\n"), Complains(2, "--slices", "urls", "none"));
  EXPECT_THAT(sh(again + "--time-field 1", "b\n"), Complains(2, "window"));
  EXPECT_THAT(sh(again + "--error-rate 0.01% --capacity 1k --hash xxh3", "a\nb\n"), Prints("b\n"));
}

TEST_F(DedupFilter, RefusesOptionsThatContradictTheWindowOfTheFilter) {
  given("echo a | everseen dedup --filter urls --window 1h --slices 6");
  const std::string again = "everseen dedup --filter urls ";
  EXPECT_THAT(sh(again + "--window 2h", "b\n"), Complains(2, "--window", "urls", "1h"));
  EXPECT_THAT(sh(again + "--slices 7", "b\n"), Complains(2, "--slices", "urls", "6"));
  EXPECT_THAT(sh(again + "--window 60m --slices 6", "a\nb\n"), Prints("b\n"));
  EXPECT_THAT(sh(again, "a\nb\n"), Prints(""));
}

TEST_F(DedupFilter, LeavesNoFilterBehindWhenOptionsAreInvalid) {
  for (const char* options : {"--time-field 1", "--slices 4", "--key-json id", "--key-json /a~b",
                              "--key-field 1 --key-json /id", "--window 1h --time-json /a~b"}) {
    EXPECT_EQ(sh("everseen dedup --filter urls " + std::string(options), "a\n").exit_code, 2) << options;
    EXPECT_FALSE(exists("urls")) << options;
  }
}

TEST_F(DedupFilter, LeavesNoFilterBehindWhenAFileIsMissing) {
  EXPECT_EQ(sh("everseen dedup --filter urls nowhere").exit_code, 3);
  EXPECT_FALSE(exists("urls"));
}

TEST_F(DedupFilter, LeavesNoFilterBehindWhenTheCountsCannotBeWritten) {
  EXPECT_THAT(sh("everseen dedup --filter f --stats=nowhere/counts", "a\n"), Complains(3, "nowhere/counts"));
  EXPECT_FALSE(exists("f"));
}

// Promise: a run that added nothing removes the filter that it made (dedup, Runs that end early).
TEST_F(DedupFilter, LeavesNoFilterBehindWhenItsFirstRunAddedNothing) {
  EXPECT_THAT(sh("everseen dedup --filter f --capacity 1000 --key-json /id", "odd\n"),
              Complains(4, "line 1"));
  EXPECT_FALSE(exists("f"));
  EXPECT_THAT(sh("everseen dedup --filter f --capacity 2000 --key-json /id", "{\"id\":1}\nodd\n"),
              Complains(4, "line 2"));
  EXPECT_TRUE(exists("f")) << "it remembers a line that was printed";
  EXPECT_THAT(sh("everseen dedup --filter f --key-json /id", "odd\n"), Complains(4, "line 1"));
  EXPECT_TRUE(exists("f")) << "it was there before this run";
}

TEST_F(DedupFilter, CreatesAKeptFilterForMoreThanASmallFirstFile) {
  EXPECT_THAT(sh("everseen dedup --filter urls", "a\n"), Prints("a\n"));
  given("everseen gen ids --count 200k > ids && everseen dedup --filter urls ids > once");
  EXPECT_THAT(sh("everseen info urls"), Prints(HasSubstr("layers at most 1")));
}

TEST_F(DedupFilter, EndsWithAnOutageWhenAFilterWithoutGrowthIsFull) {
  given("everseen create urls --capacity 100 --error-rate 1e-12 --growth refuse");
  given("everseen gen ids --count 1000 > ids");
  const auto full = sh("everseen dedup --filter urls --stats=counts.json ids");
  EXPECT_THAT(full, Complains(3, "full"));
  EXPECT_EQ(std::count(full.out.begin(), full.out.end(), '\n'), 100);
  EXPECT_THAT(sh("cat counts.json"), Prints(HasSubstr("\"unknown\": 900")));
}

// ---- sizes

TEST_F(DedupFilter, NeedsLittleTimeAndMemoryForFewLinesWhateverTheCapacity) {
  given("everseen gen ids --count 20k > ids");
  const auto expected = sh("everseen dedup ids | md5sum").out;
  for (const char* command :
       {"everseen dedup --capacity 1e9 ids", "cat ids | everseen dedup --capacity 1e9"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = sh(command + std::string(" | md5sum"));
    EXPECT_THAT(result, Prints(expected));
    EXPECT_LT(result.peak_bytes, 400U << 20) << command;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s) << command;
  }
}

TEST_F(DedupFilter, RefusesACapacityThatNeverFits) {
  EXPECT_THAT(sh("cat | everseen dedup --capacity 1e14", "a\n"),
              Complains(2, "100,000,000,000,000 keys", "has room for"));
  EXPECT_THAT(sh("everseen dedup --capacity 1e14", "a\n"), Prints("a\n"))
      << "no more lines than the file has bytes";
  EXPECT_THAT(sh("everseen dedup --filter f --capacity 1e14", "a\n"), Complains(2, "lower the capacity"));
  EXPECT_THAT(sh("everseen create f --capacity 1e14"), Complains(2, "lower the capacity"));
  EXPECT_FALSE(exists("f"));
}

// ---- windows

TEST_F(DedupFilter, ForgetsKeysAfterTheWindowByTheTimeInAField) {
  const std::string input =
      "1700000000\ta\n"
      "1700000300\ta\n"   // within ten minutes
      "1700000300\tb\n"   //
      "1700001200\ta\n"   // long after
      "1700001201\tb\n";  //
  EXPECT_THAT(sh("everseen dedup --window 10m --time-field 1 --key-field 2", input),
              Prints("1700000000\ta\n1700000300\tb\n1700001200\ta\n1700001201\tb\n"));
}

TEST_F(DedupFilter, RemembersAKeyForTheWindowAndAtMostOneSliceMore) {
  const std::string command = "everseen dedup --window 60s --slices 6 --time-field 1 --key-field 2 | wc -l";
  const auto printed = [&](int later) {
    return sh(command, "1700000000\ta\n" + std::to_string(1700000000 + later) + "\ta\n").out;
  };
  EXPECT_EQ(printed(60), "1\n");
  EXPECT_EQ(printed(70), "2\n");
}

TEST_F(DedupFilter, ReadsTheTimeAtAJsonPointer) {
  const std::string first = R"({"id":1,"at":"2025-01-01T00:00:00Z"})";
  const std::string soon = R"({"id":1,"at":"2025-01-01T01:05:00+01:00"})";
  const std::string later = R"({"id":1,"at":"2025-01-01T00:20:00.5Z"})";
  EXPECT_THAT(sh("everseen dedup --key-json /id --window 10m --time-json /at",
                 first + "\n" + soon + "\n" + later + "\n"),
              Prints(first + "\n" + later + "\n"));
}

TEST_F(DedupFilter, PrintsNoEventOlderThanTheWindowAndCountsItAsLate) {
  const auto result = sh("everseen dedup --window 10m --time-field 1 --key-field 2 --stats",
                         "1700010000\ta\n1700000000\tb\n1700009999\tc\n");
  EXPECT_EQ(result.out, "1700010000\ta\n1700009999\tc\n");
  const auto stats = nlohmann::json::parse(result.err);
  EXPECT_EQ(stats.at("late"), 1);
  EXPECT_EQ(stats.at("fresh"), 2);
  EXPECT_EQ(stats.at("lines"), 3);
}

TEST_F(DedupFilter, TreatsALineWithoutAReadableTimeLikeOneWithoutAKey) {
  const std::string command = "everseen dedup --window 10m --time-field 1 --key-field 2";
  EXPECT_THAT(sh(command, "yesterday\ta\n"), Complains(4, "line 1", "time that cannot be read", "yesterday"));
  EXPECT_THAT(sh(command + " -q --missing-key pass", "yesterday\ta\n"), Prints("yesterday\ta\n"));
  EXPECT_THAT(sh(command + " -q --missing-key drop", "yesterday\ta\n"), Prints(""));
}

TEST_F(DedupFilter, UsesTheClockWhereNoTimeIsGiven) {
  EXPECT_THAT(sh("everseen dedup --window 1h", "a\nb\na\n"), Prints("a\nb\n"));
}

// Promise: a line without a time has the clock's time when its block was read (dedup, Lines without times).
TEST_F(DedupFilter, LetsTheClockAdvanceWhileAPipeIsOpen) {
  auto live = setup();
  live.piped_input = true;
  test::running_program dedup({test::everseen_program(), "dedup", "--window", "500ms", "--slices", "1"},
                              live);
  dedup.write("a\n");
  ASSERT_TRUE(dedup.waits_to_say("a\n"));
  std::this_thread::sleep_for(1100ms);
  dedup.write("a\n");
  EXPECT_TRUE(dedup.waits_to_say("a\na\n", 10s)) << "forgets after 500 ms and one slice more";
  dedup.close_input();
  EXPECT_THAT(dedup.wait(), Prints("a\na\n"));
}

TEST_F(DedupFilter, ForgetsByTheClockBetweenRuns) {
  const std::string command = "everseen dedup --filter urls --window 500ms --slices 1";
  EXPECT_THAT(sh(command, "a\n"), Prints("a\n"));
  std::this_thread::sleep_for(1100ms);
  EXPECT_THAT(sh(command, "a\n"), Prints("a\n"));
}

TEST_F(DedupFilter, RefusesPartsOfAWindowWithoutAWindow) {
  EXPECT_THAT(sh("everseen dedup --slices 4", "a\n"), Complains(2, "--slices", "--window"));
  EXPECT_THAT(sh("everseen dedup --time-field 1", "a\n"), Complains(2, "--window"));
  EXPECT_THAT(sh("everseen dedup --time-json /at", "{}\n"), Complains(2, "--window"));
  EXPECT_THAT(sh("everseen dedup --window 10m --time-field 1 --time-json /at", "{}\n"),
              Complains(2, "--time-field", "--time-json"));
  EXPECT_THAT(sh("everseen dedup --window soon", "a\n"), Complains(2, "--window", "soon"));
  EXPECT_THAT(sh("everseen dedup --window 0s", "a\n"), Complains(2, "--window", "0s"));
  EXPECT_THAT(sh("everseen dedup --window 10m --slices 1001", "a\n"),
              Complains(2, "--slices", "1001", "1000"));
}

}  // namespace
}  // namespace everseen
