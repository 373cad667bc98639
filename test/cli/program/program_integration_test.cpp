#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

/// The program as a whole: finding verbs and options, and how it ends.
class Program : public Shell {};

TEST_F(Program, GivesAdviceWithoutArguments) {
  EXPECT_THAT(sh("everseen"), Complains(2, "everseen --help"));
}

TEST_F(Program, ShowsItsVersion) {
  EXPECT_THAT(sh("everseen --version"), Prints(MatchesRegex("everseen [0-9]+\\.[0-9]+\\.[0-9]+\n")));
}

TEST_F(Program, ListsItsVerbs) {
  for (const auto* line : {"everseen --help", "everseen -h", "everseen help"})
    EXPECT_THAT(sh(line),
                Prints(AllOf(HasSubstr("\n  create "), HasSubstr("\n  explain "), HasSubstr("Exit codes"))));
}

TEST_F(Program, HelpsWithAVerbInThreeWays) {
  const std::string help = sh("everseen create --help").out;
  EXPECT_THAT(help, HasSubstr("--capacity COUNT"));
  EXPECT_THAT(sh("everseen help create"), Prints(help));
  EXPECT_THAT(sh("everseen create -h"), Prints(help));
}

TEST_F(Program, HelpsEvenWhenTheOtherArgumentsAreInvalid) {
  EXPECT_THAT(sh("everseen create --capacity 0 --help"), Prints(HasSubstr("usage: everseen create")));
}

TEST_F(Program, SuggestsTheNearestVerb) {
  EXPECT_THAT(sh("everseen creat x"), Complains(2, "'creat'", "did you mean 'create'?"));
  EXPECT_THAT(sh("everseen frobnicate"), Complains(2, "'frobnicate'", "everseen --help"));
}

TEST_F(Program, SuggestsTheNearestOption) {
  EXPECT_THAT(sh("everseen create x --capcity 5"), Complains(2, "--capcity", "did you mean --capacity?"));
  EXPECT_THAT(sh("everseen create x --frobnicate"), Complains(2, "--frobnicate", "everseen create --help"));
}

TEST_F(Program, DoesNotReadAMistypedOptionAsAKey) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen add f --quite a"), Complains(2, "--quite", "did you mean --quiet?", "write --"));
  EXPECT_THAT(sh("everseen check f --quite a"), Complains(2, "--quite"));
}

TEST_F(Program, RequiresItsArguments) {
  EXPECT_THAT(sh("everseen create"), Complains(2, "NAME", "everseen create --help"));
  EXPECT_THAT(sh("everseen info a b"), Complains(2, "'b'", "one argument too many"));
  EXPECT_THAT(sh("everseen info -- -a -b"), Complains(2, "'-b'", "one argument too many"));
  EXPECT_THAT(sh("everseen create x --capacity"), Complains(2, "--capacity"));
}

TEST_F(Program, AcceptsEachOptionOnce) {
  EXPECT_THAT(sh("everseen create x --capacity 5 --capacity 6"), Complains(2, "--capacity is given twice"));
}

TEST_F(Program, RefusesAValueForASwitch) {
  EXPECT_THAT(sh("everseen list --json=3"), Complains(2, "--json"));
}

TEST_F(Program, ReportsAFullDisk) {
  given("everseen create f && everseen add f a");
  for (const auto* line :
       {"everseen gen words --count 100k", "everseen --help", "everseen info f", "everseen list",
        "everseen add f b", "everseen check f a", "everseen export f", "everseen man"})
    EXPECT_THAT(sh(std::string(line) + " > /dev/full"), Complains(3, "standard output", "No space left"))
        << line;
}

TEST_F(Program, EndsQuietlyWhenItsReaderExits) {
  const program_result result = sh("everseen gen words --count 1M | head -1");
  EXPECT_THAT(result, Prints(MatchesRegex("[a-z]+\n"), 128 + SIGPIPE));
}

TEST_F(Program, KeepsFiltersInTheUsersDataDirectory) {
  given("unset EVERSEEN_STORE; HOME=$PWD everseen create f");
  EXPECT_TRUE(exists(directory() / ".local/share/everseen/f"));
  given("unset EVERSEEN_STORE; XDG_DATA_HOME=$PWD/data everseen create f");
  EXPECT_TRUE(exists(directory() / "data/everseen/f"));
}

TEST_F(Program, PrefersTheOptionToTheEnvironment) {
  given("everseen create f --store file:here && mkdir store");
  EXPECT_THAT(sh("everseen list --names"), Prints(IsEmpty()));
  EXPECT_THAT(sh("everseen list --names --store file:here"), Prints("f\n"));
}

TEST_F(Program, ReportsThatThereIsNoPlaceForFilters) {
  EXPECT_THAT(sh("unset EVERSEEN_STORE XDG_DATA_HOME HOME; everseen list"),
              Complains(2, "--store", "EVERSEEN_STORE"));
  EXPECT_THAT(sh("everseen list --store /tmp"), Complains(2, "'/tmp' is not a store"));
  EXPECT_THAT(sh("everseen create f --store mem:"), Complains(2, "mem:"));
}

TEST_F(Program, ExitsWithOutageWhereTheStoreIsUnavailable) {
  given("touch file");
  EXPECT_THAT(sh("everseen create f --store file:file/store"), Complains(3, "/file: Not a directory"));
}

TEST_F(Program, ExitsWithDamageWhereAFilterIsDamaged) {
  given("everseen create f && everseen add f a && for x in $(find store -type f); do echo damage > $x; done");
  EXPECT_THAT(sh("everseen info f"), Complains(4));
  const program_result all = sh("everseen create g -q && everseen list");
  EXPECT_EQ(all.exit_code, 4);
  EXPECT_THAT(all.out, AllOf(HasSubstr("\nf     cannot be read: "), HasSubstr("\ng  ")));
}

}  // namespace
}  // namespace everseen::test
