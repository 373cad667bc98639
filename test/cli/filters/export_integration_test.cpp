#include <string>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using namespace std::string_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Export : public Shell {};

TEST_F(Export, IsImportedAsTheSameFilter) {
  given(
      "everseen create f --capacity 1000 --error-rate 1e-4 --partitions 3 && seq 5000 | everseen add f -q && "
      "everseen export f -o f.stream");
  EXPECT_THAT(sh("everseen import g f.stream"), Prints(HasSubstr("imported g: ")));
  EXPECT_THAT(sh("seq 5000 | everseen check g -q"), Prints(IsEmpty()));
  EXPECT_THAT(sh("diff <(everseen info f | tail -n+2) <(everseen info g | tail -n+2)"), Prints(IsEmpty()));
  EXPECT_THAT(sh("diff <(seq 9000 | everseen check f) <(seq 9000 | everseen check g)"), Prints(IsEmpty()));
}

TEST_F(Export, WorksThroughAPipe) {
  given("everseen create f --window 10m && everseen add f -q a");
  EXPECT_THAT(sh("everseen export f | everseen import g --store file:other"), Prints("imported g: 1 key\n"));
  EXPECT_THAT(sh("everseen check g a --store file:other"), Prints("seen\ta\n"));
}

TEST_F(Export, OfAnEmptyFilterIsAnEmptyFilter) {
  given("everseen create f && everseen export f -o f.stream && everseen import g f.stream");
  EXPECT_THAT(sh("everseen check g a"), Prints("fresh\ta\n", 1));
}

TEST_F(Export, ReplacesAFileOnlyWhenItIsComplete) {
  given("everseen create f && everseen add -q f a && echo old > f.stream");
  EXPECT_THAT(sh("ulimit -f 1; everseen export f -o f.stream"), Complains(3, "f.stream", "ulimit -f"));
  EXPECT_THAT(sh("cat f.stream; ls -A"), Prints("old\nf.stream\nstore\n"));
  EXPECT_THAT(sh("everseen export f -o /dev/full"), Complains(3, "/dev/full"));
  EXPECT_THAT(sh("everseen export f -o nowhere/f"), Complains(3, "nowhere/f"));
}

TEST_F(Export, LeavesAUsersFileWithASimilarNameAlone) {
  given("everseen create f && echo mine > f.stream.part");
  EXPECT_THAT(sh("everseen export f -o f.stream; cat f.stream.part; ls -A"),
              Prints("mine\nf.stream\nf.stream.part\nstore\n"));
}

TEST_F(Export, IsReadableByItsOwnerOnlyBecauseItContainsTheSecret) {
  given("everseen create f && umask 022 && everseen export f -o f.stream");
  EXPECT_THAT(sh("stat -c %a f.stream"), Prints("600\n"));
}

TEST_F(Export, ThroughALinkReplacesTheFileAndNotTheLink) {
  given(
      "everseen create f && mkdir far && echo old > far/f && ln -s far/f link && everseen export f -o link");
  EXPECT_THAT(sh("readlink link; everseen import g far/f; ls -A far"),
              Prints("far/f\nimported g: 0 keys\nf\n"));
}

// Promise: an import refuses bytes after the stream (format, Export stream).
TEST_F(Export, WithTrailingBytesIsRefused) {
  given("everseen create f && everseen export f -o f.stream && (cat f.stream; echo) > longer");
  given("cat f.stream f.stream > twice");
  for (const auto* file : {"longer", "twice"}) {
    EXPECT_THAT(sh(std::string("everseen import g ") + file), Complains(4, "follow")) << file;
    EXPECT_THAT(sh("everseen list --names"), Prints("f\n")) << file;
  }
}

TEST_F(Export, DamagedLeavesNothingBehind) {
  given("everseen create f && everseen add f -q a && everseen export f -o good");
  given(
      "head -c -1 good > short; (head -c 300 good; printf X; tail -c+302 good) > changed; echo hello > text");
  for (const auto* file : {"short", "changed", "text", "/dev/null"}) {
    EXPECT_THAT(sh(std::string("everseen import g ") + file), Complains(4)) << file;
    EXPECT_THAT(sh("everseen list --names; ls store"), Prints("f\nf\n")) << file;
  }
}

TEST_F(Export, IsNotWrittenToATerminal) {
  given("everseen create f");
  const program_result result = sh("script -qec 'everseen export f' /dev/null < /dev/null");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("not text for a terminal"));
}

TEST_F(Export, ReplacesNoFilter) {
  given("everseen create f && everseen create g && everseen export f -o f.stream");
  EXPECT_THAT(sh("everseen import g f.stream"), Complains(2, "'g' exists already", "--replace"));
}

class ImportThatReplaces : public Shell {
 protected:
  void SetUp() override {
    given(
        "everseen create -q f; everseen add -q f new; everseen export f -o new.stream; everseen drop f "
        "--yes; "
        "everseen create -q g --as guava64 --capacity 100; everseen add -q g new; "
        "everseen export g --to guava -o new.bloom; everseen drop g --yes");
  }

  /// The filter f of a store is replaced as a whole, by a file of any kind; or made, if there is none.
  /// @param begin  shell lines that lead to the store
  void expect_replacement(const std::string& begin) const {
    for (const char* file : {"f new.stream", "f new.bloom --from guava"})
      EXPECT_THAT(
          sh(begin + "; everseen create -q f; everseen add -q f old; everseen import --replace "s + file +
             "; everseen check f old new; everseen list --names; everseen drop f --yes; "
             "everseen import --replace " +
             file + "; everseen list --names; everseen drop f --yes")
              .out,
          HasSubstr("imported f: 1 key\nfresh\told\nseen\tnew\nf\n"
                    "imported f: 1 key\nf\n"))
          << begin << ' ' << file;
  }
};

// Promise: import --replace exchanges the filters in one step (files, Backup).
TEST_F(ImportThatReplaces, TakesTheOldOnesPlaceInFiles) {
  expect_replacement("true");
}

TEST_F(ImportThatReplaces, TakesTheOldOnesPlaceOnRedis) {
  const redis_server server;
  expect_replacement("export EVERSEEN_STORE=" + server.url());
}

TEST_F(ImportThatReplaces, TakesTheOldOnesPlaceInARunningServer) {
  for (const char* behind : {"mem:", "file:behind"})
    expect_replacement(
        "everseen serve -q --listen unix:./s --store "s + behind +
        " & trap \"kill $!; wait\" EXIT; until redis-cli -s ./s PING > /dev/null 2>&1; do sleep 0.05; "
        "done; export EVERSEEN_STORE=everseen+unix:$PWD/s");
}

TEST_F(ImportThatReplaces, LeavesTheOldOneIfTheFileIsDamaged) {
  given("everseen create -q f; everseen add -q f old; head -c -1 new.stream > short");
  EXPECT_THAT(sh("everseen import --replace f short"), Complains(4));
  EXPECT_THAT(sh("everseen check f old; everseen list --names; ls store"), Prints("seen\told\nf\nf\n"));
}

TEST_F(ImportThatReplaces, LeavesTheOldOneWhileItIsWrittenTo) {
  given("everseen create -q f; mkfifo keys");
  const program_result refused =
      sh("everseen add --verdicts f < keys > verdicts & exec 3> keys; echo old >&3; "
         "until [ -s verdicts ]; do sleep 0.01; done; "
         "everseen import --replace f new.stream; code=$?; exec 3>&-; wait $!; exit $code");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("is writing"));
  EXPECT_THAT(sh("everseen check f old; everseen list --names"), Prints("seen\told\nf\n"));
}

TEST_F(ImportThatReplaces, RefusesToReplaceALinkedOne) {
  given("everseen create -q older; everseen create -q f; everseen link -q older f");
  EXPECT_THAT(sh("everseen import --replace f new.stream"), Complains(2, "link --off f"));
  EXPECT_THAT(sh("everseen list --names"), Prints("f\nolder\n"));
}

TEST_F(ImportThatReplaces, LeavesTheOldOrTheNewOneWhenItIsKilled) {
  given(
      "seq 100000 > many; everseen create -q g --capacity 1M; everseen add -q g < many; everseen add -q g "
      "new; "
      "everseen export g -o new.stream");
  for (const std::string delay :
       {"0.002", "0.005", "0.008", "0.011", "0.014", "0.017", "0.02", "0.03", "0.05"}) {
    given("everseen drop f --yes 2> /dev/null; everseen create -q f; everseen add -q f old");
    static_cast<void>(sh("timeout -s KILL " + delay + " everseen import -q --replace f new.stream"));
    EXPECT_THAT(sh("everseen check f old new").out,
                AnyOf("seen\told\nfresh\tnew\n", "fresh\told\nseen\tnew\n"));
  }
}

TEST_F(Export, FromAMissingFileIsReported) {
  EXPECT_THAT(sh("everseen import g nope"), Complains(3, "nope", "No such file"));
}

}  // namespace
}  // namespace everseen::test
