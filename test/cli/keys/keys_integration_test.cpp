#include <csignal>

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// add and check.
class Keys : public Shell {};

TEST_F(Keys, AreArguments) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen add f a b a"), Prints("2 fresh, 1 seen\n"));
  EXPECT_THAT(sh("everseen check f a b c"), Prints("seen\ta\nseen\tb\nfresh\tc\n", 1));
  EXPECT_THAT(sh("everseen check f a b"), Prints("seen\ta\nseen\tb\n"));
}

TEST_F(Keys, AreLines) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen add f", "a\n\nb\r\nno newline"), Output("4 fresh, 0 seen\n"));
  EXPECT_THAT(sh("everseen check f", "no newline\n\nb\n"), Prints("seen\tno newline\nseen\t\nfresh\tb\n", 1));
}

TEST_F(Keys, MayBeFieldsOfLines) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen add f --csv --header --key name", "id,name\n1,\"a, b\"\n2,c\n3,c\n"),
              Prints("2 fresh, 1 seen\n"));
  EXPECT_THAT(sh("everseen check f 'a, b' c d"), Prints("seen\ta, b\nseen\tc\nfresh\td\n", 1));
  EXPECT_THAT(sh("everseen check f --key /name", "{\"name\":\"c\"}\n"), Prints("seen\tc\n"));
  EXPECT_THAT(sh("everseen add f --key 2", "1\tx\n2\n3\ty\n"),
              testing::AllOf(Complains(4, "line 2 of standard input has no key", "no field 2", "it is '2'"),
                             testing::Field("out", &program_result::out, "1 fresh, 0 seen\n")));
  EXPECT_THAT(sh("everseen check f x y"), Prints("seen\tx\nfresh\ty\n", 1)) << "the lines before it";
  EXPECT_THAT(sh("everseen add f --key 2 a b"), Complains(2, "--key", "lines"));
}

TEST_F(Keys, MayEndWithNul) {
  given("everseen create f");
  EXPECT_THAT(sh("printf 'two\\nlines\\0b\\0' | everseen add f -z"), Prints("2 fresh, 0 seen\n"));
  EXPECT_THAT(sh("printf 'two\\nlines\\0' | everseen check f --zero | tr '\\0' '!'"),
              Prints("seen\ttwo\nlines!"));
}

TEST_F(Keys, ArriveAsTheyWereTyped) {
  given("everseen create f");
  const std::string odd = R"('[a,b]' '{}' '' ' x ' '%%' 'a,b' '"q"' '[]' '[' $'\x01[a]' '*' -5)";
  EXPECT_THAT(sh("everseen add f " + odd), Prints("12 fresh, 0 seen\n"));
  EXPECT_THAT(sh("everseen check f -q " + odd), Prints(IsEmpty()));
  EXPECT_THAT(sh("everseen check f a b '[a' 'b]' x"),
              Prints(StartsWith("fresh\ta\nfresh\tb\nfresh\t[a\nfresh\tb]\n"), 1));
}

TEST_F(Keys, StartingWithADashFollowTwoDashes) {
  given("everseen create f && everseen add f -q -- --quiet -z");
  EXPECT_THAT(sh("everseen check f -- --quiet -z --help"),
              Prints("seen\t--quiet\nseen\t-z\nfresh\t--help\n", 1));
}

TEST_F(Keys, MayBeNamesOfVerbs) {
  given("everseen create list && everseen add list -q add check");
  EXPECT_THAT(sh("everseen check list add check"), Prints("seen\tadd\nseen\tcheck\n"));
}

TEST_F(Keys, GetTheirVerdictsOnRequest) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen add f --verdicts a b a"), Prints("fresh\ta\nfresh\tb\nseen\ta\n"));
  EXPECT_THAT(sh("everseen add f -q a b"), Prints(IsEmpty()));
}

TEST_F(Keys, AreCheckedSilentlyInConditions) {
  given("everseen create f && everseen add f -q a");
  EXPECT_THAT(sh("everseen check f --quiet a"), Prints(IsEmpty()));
  EXPECT_THAT(sh("everseen check f --quiet a b"), Prints(IsEmpty(), 1));
  EXPECT_THAT(sh("everseen check f --quiet < /dev/null"), Prints(IsEmpty()));
}

TEST_F(Keys, MayBeMillions) {
  given("everseen create f --capacity 1M && everseen gen words --count 1M > words");
  EXPECT_THAT(sh("everseen add f < words"), Prints(HasSubstr(" fresh, ")));
  EXPECT_THAT(sh("everseen check f < words | grep -c ^seen"), Prints("1000000\n"));
  EXPECT_THAT(sh("everseen add f < words"), Prints("0 fresh, 1,000,000 seen\n"));
}

// Promise: a filter that is closed in order is on the disk under every policy (files, Durability).
TEST_F(Keys, ThatCannotBeSyncedAreAnError) {
  for (const char* sync : {"interval", "never"}) {
    const std::string store = std::string("--store 'file:") + sync + "?sync=" + sync + "'";
    given("everseen create f -q " + store);
    EXPECT_THAT(sh(without_sync() + "everseen add f a " + store), Complains(3, "cannot sync"));
  }
}

TEST_F(Keys, OfAWindowHaveATime) {
  given("everseen create f --window 10m");
  EXPECT_THAT(sh("everseen add f --time 2025-01-01T00:00:00Z a"), Prints("1 fresh, 0 seen\n"));
  EXPECT_THAT(sh("everseen add f --time 1735689660 a"), Prints("0 fresh, 1 seen\n"));
  EXPECT_THAT(sh("everseen add f --time 1735690320000 a"), Prints("1 fresh, 0 seen\n"));
  EXPECT_THAT(sh("everseen add f --time 2025-01-01T00:00:00Z a"), Prints("0 fresh, 0 seen, 1 late\n"));
  EXPECT_THAT(sh("everseen check f --time 2025-01-01T00:00:00Z a"), Prints("late\ta\n", 1));
  EXPECT_THAT(sh("everseen add f now && everseen check f now"), Prints("1 fresh, 0 seen\nseen\tnow\n"));
}

TEST_F(Keys, WithoutAWindowHaveNoTime) {
  given("everseen create f && everseen create w --window 1h");
  EXPECT_THAT(sh("everseen add f --time 5 a"), Complains(2, "--time", "window"));
  EXPECT_THAT(sh("everseen add w --time yesterday a"), Complains(2, "--time yesterday is not a time"));
}

TEST_F(Keys, OverAHardLimitAreRefused) {
  given("everseen create f --capacity 10 --growth refuse");
  EXPECT_THAT(sh("everseen add f -v $(seq 100)"),
              testing::AllOf(Complains(3, "full"),
                             testing::Field("out", &program_result::out, HasSubstr("fresh\t1\n"))));
}

TEST_F(Keys, WithoutRoomAreCountedAndTheFirstIsNamed) {
  given("everseen create f --capacity 10 --growth refuse");
  EXPECT_THAT(
      sh("seq 100 | everseen add f"),
      testing::AllOf(
          Complains(3,
                    "the first key without room was '11' (line 11 of standard input), and 89 more had none"),
          testing::Field("out", &program_result::out, "10 fresh, 0 seen\n")));
  EXPECT_THAT(sh("seq 100 | everseen add f"),
              testing::Field("out", &program_result::out, "0 fresh, 10 seen\n"));
}

TEST_F(Keys, OfAPipeAreAnsweredAsTheyArrive) {
  given("everseen create f");
  program_setup piped = setup();
  piped.piped_input = true;
  running_program add({"everseen", "add", "f", "--verdicts"}, piped);
  add.write("a\n");
  EXPECT_TRUE(add.waits_to_say("fresh\ta\n"));
  add.write("b\na\n");
  add.close_input();
  EXPECT_THAT(add.wait(), Prints("fresh\ta\nfresh\tb\nseen\ta\n"));
}

TEST_F(Keys, AddedBeforeASignalAreKept) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    given("everseen create f");
    program_setup piped = setup();
    piped.piped_input = true;
    running_program add({"everseen", "add", "f", "--verdicts"}, piped);
    add.write("a\n");
    EXPECT_TRUE(add.waits_to_say("fresh\ta\n"));
    add.send(signal);
    EXPECT_THAT(add.wait(), Prints("fresh\ta\n", 128 + signal));
    EXPECT_THAT(sh("everseen check f a && everseen add f a && everseen drop f"),
                Prints("seen\ta\n0 fresh, 1 seen\n"));
  }
}

TEST_F(Keys, AddedBeforeTheReaderExitsAreKept) {
  given("everseen create f");
  EXPECT_THAT(sh("seq 1000000 | everseen add f --verdicts | head -1"), Prints("fresh\t1\n", 128 + SIGPIPE));
  EXPECT_THAT(sh("everseen check f 1"), Prints("seen\t1\n"));
}

// Promise: one time more than one slice ahead of the clock changes nothing through any interface (dedup,
// Times in the future).
TEST_F(Keys, OfTheFarFutureAreRefused) {
  given("everseen create w --window 10m && everseen add w -q a");
  EXPECT_THAT(sh("everseen add w --time 2050-01-01T00:00:00Z b"),
              Complains(2, "2050-01-01T00:00:00.000Z is too far ahead of the clock"));
  EXPECT_THAT(sh("everseen check w --time 2050-01-01T00:00:00Z a"), Complains(2, "too far ahead"));
  EXPECT_THAT(sh("everseen add w a b"), Prints("1 fresh, 1 seen\n"));
}

TEST_F(Keys, HaveTimesInAnyFormThatMeansOneMoment) {
  given("everseen create w --window 4w && everseen add w --time 1764028800 -q a");
  for (const char* time : {"1764028800000", "1764028800000000000", "2025-11-25T00:00:00+00",
                           "2025-11-25T01:00:00+0100", "'2025-11-25 00:00:00Z'", "'2025-11-25 00:00 UTC'",
                           "2025-11-25", "'25/Nov/2025:00:00:00 +0000'", "20251125T000000Z"})
    EXPECT_THAT(sh(std::string("everseen add w a --time ") + time), Prints("0 fresh, 1 seen\n")) << time;
  for (const char* time : {"'2025-11-25 00:00:00'", "25/11/2025", "20251125", "now"})
    for (const char* verb : {"add", "check", "explain"})
      EXPECT_THAT(sh(std::string("everseen ") + verb + " w a --time " + time),
                  Complains(2, "--time", "2026-11-25T08:30:00Z", "25/Nov/2026:08:30:00 +0000"))
          << verb << time;
}

TEST_F(Keys, AreNotAddedByTwoProcessesConcurrently) {
  given("everseen create f");
  program_setup piped = setup();
  piped.piped_input = true;
  running_program add({"everseen", "add", "f", "--verdicts"}, piped);
  add.write("a\n");
  EXPECT_TRUE(add.waits_to_say("fresh\ta\n"));
  EXPECT_THAT(sh("everseen add f b"), Complains(3));
  EXPECT_THAT(sh("everseen check f a"), Prints("seen\ta\n"));
}

}  // namespace
}  // namespace everseen::test
