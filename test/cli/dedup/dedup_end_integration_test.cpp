// How `everseen dedup` ends: unreadable files, outputs that fail, full stores, signals.

#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "test/cli/dedup/exact_dedup.hpp"
#include "test/cli/shell.hpp"
#include "test/support/places.hpp"
#include "test/support/text_files.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using test::Complains;
using test::Prints;
using testing::AllOf;
using testing::Field;
using testing::HasSubstr;

class DedupEnd : public test::Shell {
 protected:
  [[nodiscard]] test::program_setup live() const {
    auto with_pipe = setup();
    with_pipe.piped_input = true;
    return with_pipe;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return test::text_of((directory() / name).string());
  }
};

// ---- inputs

TEST_F(DedupEnd, NamesAMissingFile) {
  EXPECT_THAT(sh("everseen dedup - nowhere.txt", "a\n"),
              AllOf(Complains(3, "nowhere.txt", "No such file"), Field(&test::program_result::out, "")));
}

TEST_F(DedupEnd, NamesADirectory) {
  EXPECT_THAT(sh("mkdir folder; everseen dedup folder"), Complains(3, "folder", "Is a directory"));
  EXPECT_THAT(sh("everseen dedup < folder"), Complains(3, "standard input", "Is a directory"));
}

TEST_F(DedupEnd, NamesAnUnreadableFile) {
  given("echo a > secret; chmod 000 secret");
  EXPECT_THAT(sh(test::without_root() + "everseen dedup secret"),
              Complains(3, "secret", "Permission denied"));
}

TEST_F(DedupEnd, ReportsClosedStandardInput) {
  EXPECT_THAT(sh("everseen dedup <&-"), Complains(3, "standard input"));
}

// ---- outputs

TEST_F(DedupEnd, ReportsAFullDiskOfTheOutput) {
  EXPECT_THAT(sh("everseen dedup > /dev/full", "a\n"), Complains(3, "standard output", "No space left"));
  EXPECT_THAT(sh("everseen dedup --stats 2> /dev/full", "a\n").exit_code, 3);
}

TEST_F(DedupEnd, ReportsThatTheOutputExceedsTheFileSizeLimit) {
  given("everseen gen ids --count 10k > ids");
  EXPECT_THAT(sh("ulimit -f 1; everseen dedup ids > out"), Complains(3, "standard output", "ulimit -f"));
}

TEST_F(DedupEnd, WritesTheCountsOfAFailedRun) {
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter , --stats=counts", "1,a\n2,a\n3\n"),
              Complains(4, "3"));
  EXPECT_THAT(
      sh("python3 -c 'import json; c = json.load(open(\"counts\")); print(c[\"fresh\"], c[\"seen\"])'"),
      Prints("1 1\n"));
  EXPECT_THAT(sh("everseen dedup --stats=counts > /dev/full", "a\n"), Complains(3, "standard output"));
  EXPECT_THAT(sh("grep '\"fresh\": 1,' counts"), Prints(HasSubstr("fresh")));
}

TEST_F(DedupEnd, ReportsClosedStandardOutput) {
  EXPECT_THAT(sh("everseen dedup >&-", "a\n"), Complains(3, "standard output"));
}

TEST_F(DedupEnd, EndsQuicklyBySigpipeWhenItsReaderExits) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(
      sh(R"(everseen gen ids --count 1T | everseen dedup | head -n 1 > first; echo "${PIPESTATUS[*]}")"),
      Prints("141 141 0\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

class DedupReader : public DedupEnd {
 protected:
  void SetUp() override { given("everseen gen ids --count 1M --range 1..100M > ids"); }
  [[nodiscard]] std::uint64_t keys_of(const std::string& filter) const {
    return std::stoull(sh("everseen info " + filter + " --json | jq .keys").out);
  }
  /// Lines of the result up to a number of bytes.
  [[nodiscard]] std::uint64_t lines_in(std::size_t bytes) const {
    const std::string text = test::first_occurrences(text_of("ids")).substr(0, bytes);
    return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  }
};

// Promise: a filter in files remembers no line that its reader has not taken (dedup, Runs that end early).
TEST_F(DedupReader, OfOneLineCostsAtMostWhatItHasTaken) {
  given("everseen dedup --filter f ids 2> note | head -n 1 > first || true");
  EXPECT_LE(keys_of("f"), lines_in(4096)) << "the first block, which head reads for its line";
  EXPECT_EQ(text_of("note"), "");
}

// Promise: with --on-crash lose, a filter remembers at most one block that its reader has not taken (dedup,
// Runs that end early).
TEST_F(DedupReader, OfOneLineCostsABlockMoreWhereKeysAreKeptFirst) {
  given("everseen dedup --filter f --on-crash lose ids 2> note | head -n 1 > first || true");
  EXPECT_LE(keys_of("f"), lines_in(4096 + 8192)) << "the bytes that head has read, and one more block";
  EXPECT_THAT(text_of("note"), HasSubstr("remembers lines that were not printed"));
}

TEST_F(DedupReader, KilledCostsOnlyWhatItHasRead) {
  given("mkfifo pipe");
  test::running_program dedup({"bash", "-c", "exec everseen dedup --filter f ids > pipe"}, setup());
  test::running_program reader({"bash", "-c", "exec < pipe; head -c 1000000; exec sleep 60"}, setup());
  ASSERT_TRUE(reader.waits_to_say(test::first_occurrences(text_of("ids")).substr(990'000, 9000)));
  std::this_thread::sleep_for(500ms);  // the program judges as much as it may
  reader.send(SIGKILL);
  EXPECT_EQ(dedup.wait().exit_code, 128 + SIGPIPE);
  EXPECT_LE(keys_of("f"), lines_in(1'000'000)) << "it reads as much as it prints";
}

// Promise: a reader that waits for the end of the run first gets its lines, and they are not repeated (dedup,
// Runs that end early).
TEST_F(DedupEnd, DoesNotWaitForAReaderThatWaitsForItsEnd) {
  const std::string run = R"(python3 -c '
import subprocess
run = subprocess.Popen(["everseen", "dedup", "--filter", "f"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
run.stdin.write(b"a\nb\na\n")
run.stdin.close()
print(run.wait(timeout=60), run.stdout.read())')";
  EXPECT_THAT(sh(run), Prints("0 b'a\\nb\\n'\n"));
  EXPECT_THAT(sh(run), Prints("0 b''\n"));
}

TEST_F(DedupReader, MayBeSlow) {
  EXPECT_THAT(
      sh("everseen dedup --error-rate 1e-12 --filter f ids | (sleep 1; cat) | cmp - <(awk '!s[$0]++' ids)"),
      Prints(""));
}

TEST_F(DedupReader, StalledDoesNotDelayASignal) {
  given("mkfifo pipe");
  test::running_program reader({"bash", "-c", "exec 3< pipe; read -r line <&3; echo \"$line\"; sleep 60"},
                               setup());
  test::running_program dedup({"bash", "-c", "exec everseen dedup --filter f ids > pipe"}, setup());
  ASSERT_TRUE(reader.waits_to_say("\n"));
  std::this_thread::sleep_for(300ms);
  dedup.send(SIGTERM);
  EXPECT_EQ(dedup.wait(10s).exit_code, 128 + SIGTERM);
}

TEST_F(DedupEnd, ClosesTheFilterBeforeItEndsBySigpipe) {
  given("everseen gen ids --count 1T | everseen dedup --filter ids | head -n 1 > first || true");
  EXPECT_THAT(sh("everseen dedup --filter ids first"), Prints(""));
}

TEST_F(DedupEnd, NoticesThatItsReaderExitedAlsoWhereNothingIsLeftToWrite) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(sh(R"(yes | everseen dedup | head -n 1; echo "${PIPESTATUS[*]}")"), Prints("y\n141 141 0\n"));
  EXPECT_THAT(sh("(echo y; until [ -s end ]; do sleep .1; done) | (everseen dedup; echo $? > end) | "
                 "head -n 1; cat end"),
              Prints("y\n141\n"))
      << "while it waits for its input";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 45s);
}

// Promise: a run whose output fails says what its filter remembers (dedup, Runs that end early).
TEST_F(DedupEnd, ReportsWhatAKeptFilterRemembersOfLinesThatWereNotPrinted) {
  EXPECT_THAT(sh("everseen dedup --filter f > /dev/full", "a\n"),
              Complains(3, "standard output", "the filter 'f' has no line that was not written"));
  EXPECT_THAT(sh("everseen dedup --filter f", "a\n"), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup --filter g --on-crash lose > /dev/full", "a\n"),
              Complains(3, "the filter 'g' remembers lines that were not printed", "everseen import"));
  const auto left =
      sh("everseen gen ids --count 1M | everseen dedup --filter h --on-crash lose | head -n 1 > first");
  EXPECT_THAT(left.err, HasSubstr("the filter 'h' remembers lines that were not printed"));
  EXPECT_THAT(sh("everseen dedup > /dev/full", "a\n").err,
              testing::Not(testing::AnyOf(HasSubstr("remembers"), HasSubstr("filter"))));
}

TEST_F(DedupEnd, RefusesToRepeatAfterACrashWhereKeysAreKeptFirst) {
  EXPECT_THAT(sh("everseen dedup --filter f --judge-ahead --on-crash repeat", "a\n"),
              Complains(2, "--judge-ahead", "--on-crash repeat"));
  EXPECT_THAT(sh("everseen dedup --on-crash lose", "a\n"), Complains(2, "--on-crash", "--filter NAME"));
}

TEST_F(DedupEnd, WaitsForASlowReaderWhenTheOutputDoesNotBlock) {
  given("everseen gen ids --count 200k > ids");
  // Another process that shares the pipe may have made it non-blocking.
  EXPECT_THAT(sh(R"(python3 -c '
import os, subprocess, time
reader, writer = os.pipe()
os.set_blocking(writer, False)
dedup = subprocess.Popen(["everseen", "dedup", "--error-rate", "1e-12", "ids"], stdout=writer)
os.close(writer)
time.sleep(0.3)
same = open(reader, "rb").read() == open("ids", "rb").read()
print(dedup.wait(), same)')"),
              Prints("0 True\n"));
}

TEST_F(DedupEnd, PrintsALineBeforeThePipeIsClosed) {
  test::running_program dedup({test::everseen_program(), "dedup"}, live());
  dedup.write("a\n");
  EXPECT_TRUE(dedup.waits_to_say("a\n"));
  dedup.write("a\nb\nhalf a li");
  EXPECT_TRUE(dedup.waits_to_say("a\nb\n"));
  dedup.write("ne\n");
  EXPECT_TRUE(dedup.waits_to_say("a\nb\nhalf a line\n"));
  dedup.close_input();
  EXPECT_THAT(dedup.wait(), Prints("a\nb\nhalf a line\n"));
}

// ---- counts

TEST_F(DedupEnd, PrintsItsCountsAtATerminalOrOnRequest) {
  const std::string counts = "3 lines: 2 kept, 1 dropped; ";
  EXPECT_THAT(sh("everseen dedup -v", "a\nb\na\n").err, HasSubstr(counts));
  EXPECT_THAT(sh("everseen dedup -v --repeated", "a\nb\na\n").err, HasSubstr("3 lines: 1 kept, 2 dropped; "));
  for (const char* one : {"-d", "-u", "-c --repeated"})
    EXPECT_THAT(sh("everseen dedup -v "s + one, "a\na\nb\n").err, HasSubstr("3 lines: 1 kept, 2 dropped; "))
        << one;
  EXPECT_THAT(sh("everseen dedup -v -c", "a\nb\na\n").err, HasSubstr(counts));
  EXPECT_THAT(sh("everseen dedup -v -d --key 2 --missing-key pass", "a\tx\nb\na\tx\n").err,
              HasSubstr("3 lines: 1 kept, 2 dropped; "));
  EXPECT_THAT(sh("everseen dedup -v --key 2 --missing-key pass", "a\tx\nb\na\tx\n").err, HasSubstr(counts));
  given("printf 'a\nb\na\n' > words");
  const std::string terminal = "script -qefc 'everseen dedup ";
  EXPECT_THAT(sh(terminal + "words > once' /dev/null").out, HasSubstr(counts));
  EXPECT_THAT(sh(terminal + "-q words > once' /dev/null"), Prints(""));
  EXPECT_THAT(sh("everseen dedup words"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen dedup -q -v words"), Complains(2, "--quiet", "--verbose"));
}

// ---- stores

TEST_F(DedupEnd, ReportsAReadOnlyStore) {
  given("mkdir readonly; chmod 500 readonly");
  EXPECT_THAT(sh(test::without_root() + "everseen dedup --filter f --store file:readonly", "a\n"),
              AllOf(Complains(3, "readonly", "Permission denied"), Field(&test::program_result::out, "")));
  EXPECT_THAT(sh(test::without_root() + "everseen dedup --filter f --store file:readonly/below", "a\n"),
              Complains(3, "readonly", "Permission denied"));
}

TEST_F(DedupEnd, ReportsAReadOnlyFilter) {
  given("echo a | everseen dedup --filter f && chmod -R a-w store");
  EXPECT_THAT(sh(test::without_root() + "everseen dedup --filter f", "b\n"),
              Complains(3, "Permission denied"));
  given("chmod -R u+w store");
  EXPECT_THAT(sh("everseen dedup --filter f", "a\nb\n"), Prints("b\n"));
}

TEST_F(DedupEnd, ReportsAFileInPlaceOfTheStore) {
  EXPECT_THAT(sh("touch taken; everseen dedup --filter f --store file:taken", "a\n"), Complains(3, "taken"));
}

// Promise: where the disk of the filter is full, no line is lost and at most a block is repeated (dedup, Runs
// that end early).
TEST_F(DedupEnd, LosesNoLineWhenTheStoreIsFull) {
  given("everseen create f --capacity 10k --error-rate 1e-12 && everseen gen ids --count 100k > ids");
  // The first layer is reserved; later ones do not fit.
  EXPECT_THAT(sh("(ulimit -f 160; everseen dedup --filter f ids) | cat > first"),
              Complains(3, "store", "ulimit -f"));
  given("everseen dedup --filter f ids | cat > second");
  EXPECT_THAT(sh("cmp <(cat first second | awk '!s[$0]++') ids"), Prints(""));
  EXPECT_GT(std::filesystem::file_size(directory() / "first"), 0U);
  const auto both =
      std::filesystem::file_size(directory() / "first") + std::filesystem::file_size(directory() / "second");
  EXPECT_LE(both, std::filesystem::file_size(directory() / "ids") + (128 << 10)) << "repeats of one block";
}

TEST_F(DedupEnd, KeepsNoPrintedLineTwiceWhenTheFilterIsFull) {
  given(
      "everseen create f --capacity 10k --growth refuse --error-rate 1e-12 && "
      "everseen gen ids --count 20k --range 1..1G > ids");
  EXPECT_THAT(sh("everseen dedup --filter f ids > first"), Complains(3, "the filter is full"));
  EXPECT_THAT(sh("wc -l < first"), Prints("10000\n"));
  EXPECT_THAT(sh("everseen dedup --filter f first"), Prints(""));
}

TEST_F(DedupEnd, NamesTheFileOfADamagedFilter) {
  given("echo a | everseen dedup --filter f && find store/f -type f -exec truncate -s 10 {} +");
  EXPECT_THAT(sh("everseen dedup --filter f", "a\n"),
              AllOf(Complains(4, "store/f"), Field(&test::program_result::out, "")));
}

// ---- signals

class DedupSignal : public DedupEnd, public testing::WithParamInterface<int> {};

TEST_P(DedupSignal, EndsAWaitingPipeAndKeepsPrintedLines) {
#ifdef __SANITIZE_THREAD__
  // The kernel delivers the signal to the main thread, which mostly waits for the mutex of the reading
  // thread; ThreadSanitizer runs the handler only once it has the mutex, so not before the next line arrives.
  GTEST_SKIP() << "ThreadSanitizer holds signals back from a thread that waits for a mutex";
#endif
  test::running_program dedup({test::everseen_program(), "dedup", "--filter", "f"}, live());
  dedup.write("a\nb\n");
  ASSERT_TRUE(dedup.waits_to_say("b\n"));
  dedup.send(GetParam());
  EXPECT_THAT(dedup.wait(10s), Prints("a\nb\n", 128 + GetParam()));
  EXPECT_THAT(sh("everseen dedup --filter f", "a\nb\nc\n"), Prints("c\n"));
}

TEST_P(DedupSignal, InTheMiddleOfAFileLosesNoLineAndPrintsNoneTwice) {
  given("everseen gen ids --count 300k --range 1..10M > ids; mkfifo pipe");
  const std::string command = "everseen dedup --error-rate 1e-12 --filter f ids";
  test::running_program dedup({"bash", "-c", "exec " + command + " > pipe"}, setup());
  // The reader starts after the signal, so that this interrupts work.
  test::running_program reader({"bash", "-c", "exec < pipe; until [ -e go ]; do sleep .05; done; cat"},
                               setup());
  std::this_thread::sleep_for(300ms);
  dedup.send(GetParam());
  std::ofstream(directory() / "go").close();
  EXPECT_THAT(dedup.wait(), Prints("", 128 + GetParam()));
  const auto first = reader.wait();
  const auto second = sh(command);
  EXPECT_FALSE(second.out.empty());
  EXPECT_EQ(first.out + second.out, test::first_occurrences(text_of("ids")));
}

INSTANTIATE_TEST_SUITE_P(Of, DedupSignal, testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& one) { return "Signal"s + sigabbrev_np(one.param); });

TEST_F(DedupEnd, ContinuesAfterAHangUpThatNohupIgnores) {
  test::running_program dedup({"bash", "-c", "trap '' HUP; exec everseen dedup"}, live());
  dedup.write("a\n");
  ASSERT_TRUE(dedup.waits_to_say("a\n"));
  dedup.send(SIGHUP);
  dedup.write("b\n");
  EXPECT_TRUE(dedup.waits_to_say("b\n"));
  dedup.close_input();
  EXPECT_THAT(dedup.wait(), Prints("a\nb\n"));
}

}  // namespace
}  // namespace everseen
