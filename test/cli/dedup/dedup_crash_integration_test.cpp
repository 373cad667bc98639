// `everseen dedup --filter` with a filter in files, killed at each step of a block, and run again.

#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>

#include <unistd.h>

#include "test/cli/shell.hpp"

namespace everseen {
namespace {

using test::Complains;
using test::dying_at;
using test::Notes;
using test::Prints;
using test::without_sync;
using testing::AllOf;
using testing::Field;
using testing::HasSubstr;

constexpr std::size_t block_through_a_pipe = 128 << 10;
constexpr std::size_t block_to_a_file = 1 << 20;

struct kill_of {
  int block;
  std::string options;
};

class DedupCrash : public test::Shell, public testing::WithParamInterface<std::tuple<std::string, kill_of>> {
 protected:
  void SetUp() override {
    given(
        "everseen gen ids --count 200k --range 1..100k | awk '{print $0 \"\\t\" 1700000000 + int(NR / 100)}' "
        "> ids");
  }
  /// A command line whose everseen is killed at the step.
  [[nodiscard]] static std::string killed() {
    const auto& [step, kill] = GetParam();
    return dying_at(step, kill.block);
  }
  [[nodiscard]] static std::string dedup() {
    return "everseen dedup --error-rate 1e-12 --key 1 --filter f " + std::get<1>(GetParam()).options + " ids";
  }
  [[nodiscard]] std::size_t bytes_of(const std::string& name) const {
    return std::filesystem::file_size(directory() / name);
  }
  /// @pre the outputs are in `first` and `second`
  void expect_nothing_lost_and_repeats_up_to(std::size_t bytes) const {
    // The write that was interrupted may have left a part of a line.
    given("awk -F '\\t' '!s[$1]++' ids > once; grep -aFxf once first > whole || true");
    EXPECT_THAT(sh("cat whole second | awk -F '\\t' '!s[$1]++' | cmp - once"), Prints(""));
    EXPECT_LE(bytes_of("whole") + bytes_of("second"), bytes_of("once") + bytes);
  }
};

// Promise: after kill -9, a second run over a filter in files repeats at most a block, and loses no line
// (dedup, Runs that end early).
TEST_P(DedupCrash, IntoAFileLosesNoLineAndRepeatsAtMostABlock) {
  EXPECT_EQ(sh(killed() + dedup() + " > first").exit_code, 128 + SIGKILL);
  given(dedup() + " > second");
  expect_nothing_lost_and_repeats_up_to(block_to_a_file);
}

// Promise: after kill -9, a second run over a filter in files repeats at most a block, and loses no line
// (dedup, Runs that end early).
TEST_P(DedupCrash, IntoAPipeLosesNoLineAndRepeatsAtMostABlock) {
  EXPECT_EQ(sh(killed() + dedup() + " | cat > first").exit_code, 128 + SIGKILL);
  given(dedup() + " > second");
  expect_nothing_lost_and_repeats_up_to(block_through_a_pipe);
}

// Promise: after kill -9, a second run with --filter and --output loses and repeats no line (dedup, Runs that
// end early).
TEST_P(DedupCrash, WithAnOutputLosesAndRepeatsNoLine) {
  given("awk -F '\\t' '!s[$1]++' ids > once");
  EXPECT_EQ(sh(killed() + dedup() + " -o out").exit_code, 128 + SIGKILL);
  EXPECT_FALSE(std::filesystem::exists(directory() / "out"));
  given(dedup() + " -o out");
  EXPECT_THAT(sh("cmp out once && ls -A | grep -F .out || true"), Prints(""));
}

std::string name_of_kill(const testing::TestParamInfo<DedupCrash::ParamType>& info) {
  const auto& [step, kill] = info.param;
  return step + "_of_block_" + std::to_string(kill.block) + (kill.options.empty() ? "" : "_in_a_window");
}

INSTANTIATE_TEST_SUITE_P(At, DedupCrash,
                         testing::Combine(testing::Values("half_put", "put", "settled"),
                                          testing::Values(kill_of{1, ""},
                                                          kill_of{3, "--window 1d --time 2"})),
                         name_of_kill);

class DedupAppending : public test::Shell {};

// The run that was killed had not added the key of the line that it could not write whole.
TEST_F(DedupAppending, EndsALineThatAKilledRunLeftUnfinished) {
  given("printf 'a\\nb' > out; printf 'b\\nc\\n' > in");
  EXPECT_THAT(sh("everseen dedup --filter f in >> out"), Notes("ended in the middle of a line"));
  EXPECT_THAT(sh("cat out"), Prints("a\nb\nb\nc\n"));
  EXPECT_THAT(sh("everseen dedup --filter f in >> out; cat out"), Prints("a\nb\nb\nc\n"));
  EXPECT_THAT(sh("everseen dedup --filter g in > out; cat out"), Prints("b\nc\n"));
  EXPECT_THAT(sh("printf 'a\nb' > out; everseen stream -q --filter h --from in --to - >> out; cat out").out,
              "a\nb\nb\nc\n");
}

TEST_F(DedupAppending, EndsAQuotedFieldThatAKilledRunLeftOpen) {
  given("printf 'a,\"x\\ny\"\\nb,2\\n' > in.csv");
  for (const char* left : {"a,\"x", "a,\"x\\n", "a,\"\"\"x"}) {
    given("rm -rf filters; printf '" + std::string(left) + "' > out.csv; printf '" + left +
          "\"\\n' > once.csv; cat in.csv >> once.csv");
    EXPECT_THAT(sh("everseen dedup --store file:filters --csv --filter f in.csv >> out.csv"),
                Notes("ended in the middle of a line"));
    EXPECT_THAT(sh("cmp out.csv once.csv"), Prints("")) << left;
  }
  given("printf 'a,\"x' > out.csv; printf 'a,\"x\"\\n' > once.csv; cat in.csv >> once.csv");
  EXPECT_THAT(
      sh("everseen stream -q --filter h --csv --key 1 --from in.csv --to - >> out.csv; cmp out.csv once.csv")
          .out,
      "");
}

// Promise: a filter that is closed in order is on the disk under every policy (files, Durability).
TEST_F(DedupAppending, ReportsAFilterThatCannotBeSynced) {
  for (const char* sync : {"interval", "never"}) {
    const std::string store = std::string("--store 'file:") + sync + "?sync=" + sync + "'";
    EXPECT_THAT(sh(without_sync() + "seq 3 | everseen dedup " + store + " --filter f"),
                Complains(3, "cannot sync"));
  }
}

class DedupContinued : public test::Shell {
 protected:
  void SetUp() override { given("seq 300000 > first; seq 200001 400000 > second; seq 400000 > both"); }
  void end_early(const std::string& step, int n = 1) const {
    EXPECT_EQ(sh(dying_at(step, n) + dedup("first")).exit_code, 128 + SIGKILL);
  }
  [[nodiscard]] static std::string dedup(const std::string& input) {
    return "everseen dedup --error-rate 1e-12 --filter f -o out " + input;
  }
};

TEST_F(DedupContinued, HasTheLinesOfTheRunThatEndedEarlyAndThoseOfAnotherInput) {
  end_early("settled");
  EXPECT_THAT(sh(dedup("second")), Notes("begins with", "earlier run"));
  given("everseen dedup --error-rate 1e-12 --filter f -o rest first");
  EXPECT_THAT(sh("sort -n out rest | cmp - both"), Prints("")) << "nothing is lost or repeated";
}

// Another thread has the block with the repeats when the filter finds no room for the keys of the first.
TEST_F(DedupContinued, HasNoLineTwiceWhereTheDiskOfTheFilterIsFull) {
  given(
      "everseen create g --capacity 10k --error-rate 1e-12 && seq 160000 > once && cat once once once > "
      "many");
  const std::string run = "everseen dedup --filter g --threads 4 -o out many";
  EXPECT_THAT(sh("ulimit -f 1600; " + run).err, HasSubstr("cannot reserve space"));
  given(run);
  EXPECT_THAT(sh("cmp out once"), Prints(""));
}

TEST_F(DedupContinued, GoesOnAfterAKeyThatIsMissing) {
  given("(seq 150000 | sed 's/.*/{\"id\":&}/'; echo '{}') > broken; sed '$d' broken > mended");
  const std::string run = "everseen dedup --error-rate 1e-12 --filter g --key-json /id -o out ";
  EXPECT_THAT(sh(run + "broken"),
              testing::Field("err", &test::program_result::err,
                             testing::AllOf(HasSubstr("line 150001"), HasSubstr("out is not written yet"),
                                            HasSubstr("continues it"))));
  EXPECT_THAT(sh(run + "mended"), Notes("begins with 150000 lines"));
  EXPECT_THAT(sh("cmp out mended"), Prints(""));
}

TEST_F(DedupContinued, KeepsQuotedRecordsWholeAndOneHeader) {
  given("(echo id,text; seq 60000 | sed 's/.*/&,\"line &\\nand \"\"more\"\" of it\"/') > records");
  const std::string run =
      "everseen dedup --csv --header --error-rate 1e-12 --filter g --key id -o out records";
  EXPECT_EQ(sh(dying_at("half_put", 2) + run).exit_code, 128 + SIGKILL);
  EXPECT_THAT(sh(run), Notes("begins with", "earlier run"));
  EXPECT_THAT(sh("cmp out records"), Prints(""));
}

TEST_F(DedupContinued, IsNotOverUntilTheRunHasEnded) {
  end_early("kept");
  EXPECT_THAT(sh("cmp out first"), Prints(""));
  EXPECT_THAT(sh(dedup("first")), Notes("out begins with 300000 lines"));
  EXPECT_THAT(sh("cmp out first && ls -A | grep -F .out || true"), Prints(""));
}

TEST_F(DedupContinued, BeginsAnewWhereTheFileWasTakenAway) {
  end_early("kept");
  given("cp -p .out.unfinished.mark mark; mv out taken");
  EXPECT_THAT(sh(dedup("second")), Notes("bytes that an earlier run wrote for out were taken away"));
  EXPECT_THAT(sh("cat taken out | cmp - both"), Prints(""));
  given("mv mark .out.unfinished.mark");
  EXPECT_THAT(sh("everseen dedup --error-rate 1e-12 --filter g -o out first; cmp out first"), Prints(""))
      << "with any filter";
}

TEST_F(DedupContinued, BeginsAnewAfterARunThatEnded) {
  given(dedup("first"));
  EXPECT_THAT(sh(dedup("second")), Prints(""));
  EXPECT_THAT(sh("cat first out | cmp - both"), Prints(""));
}

TEST_F(DedupContinued, IsOfItsFilterAlone) {
  end_early("settled");
  EXPECT_THAT(sh("everseen dedup --filter other -o out second"),
              Complains(3, "was begun with --filter f --store file:/", "remove"));
  given("mkdir elsewhere");
  EXPECT_THAT(sh("cd elsewhere; everseen dedup --error-rate 1e-12 --filter f -o ../out ../first"),
              Notes("../out begins with"))
      << "from any directory";
  EXPECT_THAT(sh("cmp out first"), Prints(""));
}

TEST_F(DedupContinued, IsOfLinesThatAreReadAlike) {
  end_early("put");
  EXPECT_THAT(sh(dedup("--key 1 second")),
              Complains(3, "was begun with --filter f --store file:/", "--key 1"));
  EXPECT_THAT(sh(dedup("-0 second")), Complains(3, "was begun with"));
  given(
      "(echo id,text; seq 200000 | sed 's/$/,a/') > records; (echo text,id; seq 200000 | sed 's/^/a,/') > "
      "other");
  const std::string run = "everseen dedup --csv --header --filter g --key id -o ids ";
  EXPECT_EQ(sh(dying_at("settled", 1) + run + "records").exit_code, 128 + SIGKILL);
  EXPECT_THAT(sh(run + "other"),
              AllOf(Field("exit_code", &test::program_result::exit_code, 2),
                    Field("err", &test::program_result::err, HasSubstr("begun with the header 'id,text'"))));
  given(run + "records");
  EXPECT_THAT(sh("cmp ids records"), Prints(""));
}

TEST_F(DedupContinued, IsBesideTheFileThatALinkRefersToAlsoWhereThatIsTakenBack) {
  given("mkdir data; ln -s data/out out");
  end_early("kept");
  end_early("settled");
  EXPECT_THAT(sh("test -L out && ! test -e out && ls -A data"), Prints(HasSubstr(".out.unfinished\n")));
  EXPECT_THAT(sh(dedup("first")), Notes("begins with 300000 lines"));
  EXPECT_THAT(sh("test -L out && cmp data/out first && ls -A data"), Prints("out\n"));
}

TEST_F(DedupContinued, KeepsTheRightsOfTheFile) {
  given("echo old > out; chmod 600 out");
  if (::geteuid() == 0) given("chown nobody:nogroup out");
  given("stat -c '%a %U %G' out > rights");
  end_early("kept");
  EXPECT_THAT(sh("stat -c '%a %U %G' out | cmp - rights"), Prints(""));
  given(dedup("first"));
  EXPECT_THAT(sh("stat -c '%a %U %G' out | cmp - rights"), Prints(""));
  given("everseen dedup -o out first");
  EXPECT_THAT(sh("stat -c '%a %U %G' out | cmp - rights"), Prints(""));
}

TEST_F(DedupContinued, IsNotBegunForADirectory) {
  given("mkdir out");
  EXPECT_THAT(sh(dedup("first")), Complains(3, "out", "Is a directory"));
  EXPECT_THAT(sh("ls -A . out"), Prints(testing::Not(HasSubstr("unfinished"))));
  EXPECT_THAT(sh("everseen dedup -o out nowhere"), Complains(3, "out", "Is a directory"));
}

TEST_F(DedupContinued, IsTheSameFilterHoweverItsStoreIsWritten) {
  const std::string run = "everseen dedup --error-rate 1e-12 --filter f -o out first --store file:";
  EXPECT_EQ(sh(dying_at("settled") + run + "st").exit_code, 128 + SIGKILL);
  EXPECT_THAT(sh(run + "\"$PWD/./st\""), Notes("out begins with"));
  EXPECT_THAT(sh("cmp out first"), Prints(""));
}

TEST_F(DedupContinued, IsWrittenByOneRunAtATime) {
  EXPECT_THAT(sh("mkfifo slow; (sleep 2; echo a) > slow & everseen dedup --filter g -o out slow & sleep 1; "
                 "everseen dedup --filter h -o out first; echo $? >&2; wait; cat out"),
              AllOf(Field("out", &test::program_result::out, "a\n"),
                    Field("err", &test::program_result::err,
                          AllOf(HasSubstr("out is being written by process"), HasSubstr("\n3\n")))));
}

TEST_F(DedupContinued, RefusesAFileThatHasLostSettledLines) {
  end_early("settled", 2);
  given("truncate -s 5 .out.unfinished");
  EXPECT_THAT(sh(dedup("first")), Complains(3, "has 5 bytes", "remove it"));
  given("truncate -s 3M .out.unfinished; echo 17 > .out.unfinished.mark");
  EXPECT_THAT(sh(dedup("first")), Complains(3, "is damaged", "remove it"));
}

TEST_F(DedupContinued, IsRefusedWhereItCannotBeExact) {
  EXPECT_THAT(sh(dedup("--repeated first")), Complains(2, "--repeated"));
  EXPECT_THAT(sh(dedup("--judge-ahead first")), Complains(2, "--judge-ahead"));
  EXPECT_THAT(sh(dedup("--on-crash lose first")), Complains(2, "--on-crash lose"));
  EXPECT_THAT(sh(dedup("--key 1 --missing-key pass first")), Complains(2, "--missing-key drop"));
  EXPECT_THAT(sh(dedup("--window 1d --late pass first")), Complains(2, "--late pass"));
  given("cp first out");
  EXPECT_THAT(sh(dedup("out")), Complains(2, "only repeats"));
  EXPECT_THAT(sh(dedup("< out")), Complains(2, "only repeats"));
  EXPECT_THAT(sh("everseen dedup --filter f -o /dev/stdout | cat", "a\na\n"), Prints("a\n"));
}

}  // namespace
}  // namespace everseen
