// Filters of other systems from the shell: imported and exported, and compared with those systems where they
// are installed.

#include <fstream>

#include "everseen/core/redisbloom/redisbloom.hpp"

#include "test/cli/shell.hpp"
#include "test/foreign/vectors.hpp"
#include "test/support/model/redisbloom_chain.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/samples/foreign_files.hpp"
#include "test/support/text_files.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Foreign : public Shell {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory() / name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return text_of((directory() / name).string());
  }
};

/// Created empty here, half filled, exported, imported, filled further: Guava itself must have the same in
/// the end.
// Promise: a filter of Guava continues bit for bit, in every store (foreign-filters, Imported filters).
TEST_F(Foreign, FilterOfGuavaMatchesTheOneThatGuavaWrites) {
  given(
      "(seq -300 599) > keys.numbers; (seq 890; printf 'a\\né\\nna\\xc3\\xafve\\n布滤\\n😀\\n\\n') > "
      "keys.words");
  std::string expected;
  for (const std::string bits : {"32", "64"})
    for (const std::string funnel : {"bytes", "chars", "int", "long"}) {
      const std::string name = funnel + bits;
      given("cp keys." + std::string(funnel == "int" || funnel == "long" ? "numbers" : "words") + " " + name +
            ".keys");
      given("everseen create half --as guava" + bits + " --capacity 900 --error-rate 0.01 --funnel " +
            funnel + " -q && head -n 300 " + name +
            ".keys | everseen add half -q && everseen export half --to guava -o " +
            "half.bloom && everseen import " + name + " --from guava --capacity 900 --funnel " + funnel +
            " half.bloom && everseen add " + name + " -q < " + name + ".keys && everseen export " + name +
            " --to guava -o " + name + ".ours && everseen drop half </dev/null");
      given("echo " + name + " " + (bits == "32" ? "0 " : "1 ") + funnel + " 900 0.01 >> cases");
      expected += name + " true " + (funnel == "int" || funnel == "long" ? "900" : "896") + "\n";
    }
  const std::string peer = test::source_directory() + "/test/foreign/peers/GuavaPeer.java";
  EXPECT_THAT(sh("java -XX:TieredStopAtLevel=1 -cp /usr/share/java/guava.jar " + peer + " . 2>&1"),
              Prints(expected));
  EXPECT_THAT(sh("for f in *.theirs; do cmp $f ${f%.theirs}.ours; done"), Prints(IsEmpty()));
  // And a file from Java is read, whichever version wrote it.
  EXPECT_THAT(sh("everseen import java --from guava --funnel long long64.theirs && everseen check java -q < "
                 "keys.numbers"),
              Prints(HasSubstr("imported java: ")));
}

TEST_F(Foreign, FilterOfRedisBloomMatchesTheOneThatRedisBloomDumps) {
  auto theirs = redisbloom::chain::reserve({0.01, 100, 2, true});
  for (int i = 1; i <= 1'000; ++i) theirs.add(std::to_string(i));
  given(
      "everseen create half --as redisbloom --capacity 100 --error-rate 0.01 -q && seq 400 | everseen add "
      "half -q "
      "&& everseen export half --to redisbloom -o half.dump && everseen import ids --from redisbloom "
      "half.dump && "
      "seq 1000 | everseen add ids -q && everseen export ids --to redisbloom --key bloom -o ids.dump");
  EXPECT_TRUE(content("ids.dump") == commands_of(theirs));
}

/// A list accepts the same words as BF.LOADCHUNK, so that a server without RedisBloom can show what arrived.
TEST_F(Foreign, FileOfRedisBloomIsReadableForAServer) {
  redis_server::options renamed;
  renamed.config = {"--rename-command", "RPUSH", "BF.LOADCHUNK"};
  const redis_server server(renamed);
  given(
      "everseen create ids --as redisbloom --capacity 100 --error-rate 0.01 -q && seq 1000 | everseen add "
      "ids -q");
  EXPECT_THAT(sh("everseen export ids --to redisbloom --key 'my ids' | redis-cli -s " + server.unix_path() +
                 " --pipe 2>&1"),
              Prints(HasSubstr("errors: 0, replies: 5\n")));
  EXPECT_EQ(server.run({"LLEN", "my ids"}), "10");
  EXPECT_EQ(server.run({"LINDEX", "my ids", "0"}), "1");
  EXPECT_EQ(server.run({"LINDEX", "my ids", "8"}), "2689");
}

TEST_F(Foreign, FiltersAreUsedByEveryVerb) {
  write("ids.dump", commands_of(redisbloom::chain::reserve({0.001, 100, 2, true})));
  EXPECT_THAT(sh("everseen import ids --from redisbloom ids.dump"), Prints("imported ids: 0 keys\n"));
  EXPECT_THAT(sh("printf 'a\\nb\\na\\n' | everseen dedup --filter ids"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen check ids a b c"), Prints("seen\ta\nseen\tb\nfresh\tc\n", 1));
  EXPECT_THAT(sh("everseen explain ids a"),
              Prints(AllOf(HasSubstr("redisbloom"), HasSubstr("11 of 11 bits"))));
  EXPECT_THAT(sh("everseen info ids"),
              Prints(AllOf(HasSubstr("hash          murmur64a, which has no secret\n"),
                           HasSubstr("expansion     2 times"), Not(HasSubstr("funnel")))));
  EXPECT_THAT(sh("everseen export ids -o ids.everseen && everseen import copy ids.everseen"),
              Prints("imported copy: 2 keys\n"));
  EXPECT_THAT(sh("cmp <(everseen export ids --to redisbloom --key k) <(everseen export copy --to redisbloom "
                 "--key k)"),
              Prints(IsEmpty()));
  EXPECT_THAT(sh("seq 300 | everseen rebuild ids && everseen check ids a"),
              Prints(HasSubstr("fresh\ta\n"), 1));
  EXPECT_THAT(sh("everseen reset ids </dev/null && everseen check ids 1"),
              Prints(HasSubstr("fresh\t1\n"), 1));
}

TEST_F(Foreign, FiltersLiveOnRedisToo) {
  const redis_server server;
  given(
      "everseen create users --as guava64 --capacity 1000 --error-rate 0.01 --funnel int && seq 500 | "
      "everseen add "
      "users -q && everseen export users --to guava -o users.bloom");
  const std::string there = " --store " + server.url();
  EXPECT_THAT(sh("everseen import users --from guava --funnel int --capacity 1000 users.bloom" + there),
              Prints(HasSubstr("imported users: ")));
  given("seq 400 900 | everseen add users -q; seq 400 900 | everseen add users -q" + there);
  EXPECT_THAT(sh("cmp <(everseen export users --to guava) <(everseen export users --to guava" + there + ")"),
              Prints(IsEmpty()));
}

TEST_F(Foreign, FiltersThatAreTooLargeForARedisStringAreRefused) {
  const redis_server server;
  given("printf '\\1\\5\\5\\0\\0\\0' > large.bloom; truncate -s $((6 + 8 * 83886080)) large.bloom");
  EXPECT_THAT(sh("everseen import large --from guava large.bloom --store " + server.url()),
              Complains(2, "the store allows at most 536870912", "file:"));
  EXPECT_THAT(sh("everseen create users --as guava64 --capacity 1G --store " + server.url()),
              Complains(2, "512 MiB"));
}

TEST_F(Foreign, KeysThatAFunnelRefusesAreUsageErrors) {
  given("everseen create users --as guava64 --capacity 100 --funnel long -q");
  EXPECT_THAT(sh("everseen add users x7"), Complains(2, "'x7'", "64 bits"));
  EXPECT_THAT(sh("everseen check users x7"), Complains(2, "'x7'"));
}

/// More lines than are read or judged together, and words among them.
// Promise: add and check judge all keys but those that the funnel cannot take, and name the first
// (foreign-filters, Imported filters).
TEST_F(Foreign, KeysThatAFunnelRefusesDoNotAffectTheVerdictsOfOthers) {
  given(
      "everseen create users --as guava64 --capacity 200k --funnel long -q; (seq 60000; echo oops; seq 60001 "
      "120000; echo 1x) > lines");
  EXPECT_THAT(sh("everseen add users < lines"),
              AllOf(testing::Field(&program_result::out, HasSubstr(" fresh, ")),
                    Complains(2, "'oops'", "line 60001 of standard input", "nor are 1 more",
                              "the other 120,000 were judged")));
  EXPECT_THAT(sh("seq 120000 | everseen check users -q"), Prints(IsEmpty()));
  EXPECT_THAT(sh("everseen add users --verdicts 1 oops 2"),
              AllOf(testing::Field(&program_result::out, "seen\t1\nseen\t2\n"), Complains(2, "'oops'")));
  EXPECT_THAT(sh("everseen check users 1 oops 2"),
              AllOf(testing::Field(&program_result::out, "seen\t1\nseen\t2\n"), Complains(2, "'oops'")));
}

TEST_F(Foreign, RebuildWithAKeyThatAFunnelRefusesLeavesTheFilterUnchanged) {
  given("everseen create users --as guava64 --capacity 100 --funnel long -q; everseen add users -q 1");
  EXPECT_THAT(sh("printf '2\\noops\\n' | everseen rebuild users"),
              Complains(2, "'oops'", "line 2 of standard input", "the filter keeps all its keys"));
  EXPECT_THAT(sh("everseen check users 1"), Prints("seen\t1\n"));
}

TEST_F(Foreign, RebuiltChainOfPowersOfTwoRemainsOne) {
  write("ids.dump", commands_of(chain_of_powers_of_two()));
  given(
      "everseen import ids --from redisbloom ids.dump && everseen rebuild ids --capacity 1000 -q --empty "
      "< /dev/null");
  // 1,000 keys need 11,027 bits at half of the rate; 2^14 hold 1,485.
  EXPECT_THAT(sh("everseen info ids --json | grep -w capacity"), Prints(HasSubstr("1485")));
}

// Promise: a filter whose bits are all set is reported (foreign-filters, Imported filters).
TEST_F(Foreign, FilterWhoseBitsAreAllSetIsReportedAsFull) {
  write("full.bloom", std::string("\x01\x05\x00\x00\x00\x10", 6) + std::string(128, '\xff'));
  EXPECT_THAT(sh("everseen import f --from guava full.bloom"),
              Prints("imported f: full, all of its bits are set\n"));
  EXPECT_THAT(sh("everseen info f"), Prints(AllOf(HasSubstr("keys          too many to estimate"),
                                                  HasSubstr("1 now"), Not(HasSubstr("fill ")))));
  EXPECT_THAT(sh("everseen list"), Prints(HasSubstr(" full ")));
  EXPECT_THAT(sh("seq 10 | everseen migrate f g --keys - -q && everseen info g"),
              Prints(HasSubstr("keys          10\n")));
}

// Promise: a line that the funnel cannot take is a record without a key (foreign-filters, Imported filters).
TEST_F(Foreign, LinesThatAFunnelRefusesAreLinesWithoutAKey) {
  given(
      "everseen create users --as guava64 --capacity 100 --funnel long -q; printf '1\\n2\\nx7\\n1\\n3\\n' > "
      "lines");
  EXPECT_THAT(
      sh("everseen dedup --filter users lines"),
      testing::AllOf(testing::Field(&program_result::exit_code, 4),
                     testing::Field(&program_result::out, "1\n2\n"),
                     testing::Field(&program_result::err,
                                    HasSubstr("line 3 of lines has a key that the filter cannot take"))));
  EXPECT_THAT(
      sh("everseen reset users </dev/null; everseen dedup -q --filter users --key-field 1 --missing-key "
         "pass lines"),
      Prints("1\n2\nx7\n3\n"));
  EXPECT_THAT(
      sh("everseen reset users </dev/null; everseen dedup -q --filter users --key-field 1 --missing-key "
         "drop lines"),
      Prints("1\n2\n3\n"));
}

TEST_F(Foreign, InvalidFilesAreDamagedDataAndLeaveNothing) {
  write("noise", std::string(1'000, 'x'));
  write("empty", "");
  for (const std::string from : {"guava", "redisbloom"})
    for (const std::string file : {"noise", "empty"})
      EXPECT_THAT(sh("everseen import f --from " + from + " " + file), Complains(4, "not a "))
          << from << ' ' << file;
  EXPECT_THAT(sh("everseen list"), Complains(3)) << "not even the directory of the store was created";
}

TEST_F(Foreign, MeaninglessOptionsAreUsageErrors) {
  write("f.bloom", "");
  EXPECT_THAT(sh("everseen import f --funnel int f.bloom"), Complains(2, "--from guava"));
  EXPECT_THAT(sh("everseen import f --from redisbloom --capacity 5 f.bloom"), Complains(2, "--from guava"));
  EXPECT_THAT(sh("everseen create f --funnel int"), Complains(2, "--as"));
  EXPECT_THAT(sh("everseen create f --as guava64 --layout classic"), Complains(2, "--layout"));
  EXPECT_THAT(sh("everseen create f --as guava64 --growth grow"), Complains(2, "does not grow"));
  EXPECT_THAT(sh("everseen create f --as redisbloom --funnel int"), Complains(2, "--funnel"));
  EXPECT_THAT(sh("everseen create f --layout guava64"), Complains(2, "guava64"));
  EXPECT_THAT(sh("everseen create f --hash murmur3"), Complains(2, "murmur3"));
  given("everseen create f");
  EXPECT_THAT(sh("everseen export f --key k -o x"), Complains(2, "--to redisbloom"));
  EXPECT_THAT(sh("everseen export f --to guava -o x"), Complains(2, "'f'", "--as guava64"));
  EXPECT_THAT(sh("ls"), Prints(Not(HasSubstr("x\n"))));
}

class Migrate : public Shell {};

TEST_F(Migrate, CreatesAFilterFromTheKeysAndLeavesTheOldOneAlone) {
  given(
      "seq 1000 > ids; everseen create old --as guava64 --capacity 1000 --error-rate 0.03 && everseen add "
      "old -q < "
      "ids && everseen export old --to guava -o before");
  EXPECT_THAT(sh("everseen migrate old new --keys ids --error-rate 1e-9"),
              Prints("migrated old to new: 1,000 keys given, 1,000 of them different, 0 unknown to old\n"));
  EXPECT_THAT(sh("everseen check new -q < ids"), Prints(IsEmpty()));
  EXPECT_THAT(sh("seq 1001 2000 | everseen check new | grep -c ^fresh; true"), Prints("1000\n"));
  EXPECT_THAT(sh("everseen info new"), Prints(AllOf(HasSubstr("capacity      1,000, then grows"),
                                                    HasSubstr("layers at most 1"), HasSubstr("xxh3"))));
  EXPECT_THAT(sh("everseen export old --to guava | cmp - before"), Prints(IsEmpty()));
}

TEST_F(Migrate, ReportsHowManyKeysTheOldFilterDoesNotKnow) {
  given(
      "seq 1000 > ids; everseen create old --capacity 1000 && everseen add old -q < ids; seq 991 1010 > "
      "other");
  const program_result some = sh("everseen migrate old new --keys other");
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_THAT(some.out, HasSubstr("20 keys given, 20 of them different, 10 unknown to old"));
  EXPECT_THAT(some.err, EndsWith("warning: old does not know 10 of the 20 keys\n"));
  EXPECT_THAT(sh("seq 5000 5100 | everseen migrate old new2 --keys - -q").err,
              HasSubstr("are these its keys?"));
  EXPECT_THAT(sh("everseen list | grep -c new"), Prints("2\n"));
}

TEST_F(Migrate, CreatesNothingFromAWrongFileIfStrict) {
  given("everseen create old && everseen add -q old a b; printf 'a\\nb\\nc\\n' > keys");
  EXPECT_THAT(sh("everseen migrate old new --keys keys --strict"),
              Complains(1, "does not know 1 of the 3 keys"));
  EXPECT_THAT(sh("everseen check new a"), Complains(2, "no filter named 'new'"));
  EXPECT_THAT(sh("printf 'a\\0b\\0' | everseen migrate old new --keys - -z --strict"),
              Prints(HasSubstr("2 keys given")));
}

TEST_F(Migrate, KeepsTheRateAndTheWindowUnlessSpecifiedOtherwise) {
  given(
      "everseen create old --error-rate 1e-4 --growth refuse --window 10m && everseen add -q old a; echo a > "
      "keys");
  EXPECT_THAT(sh("everseen migrate old new --keys keys"), Prints(HasSubstr("0 unknown to old")));
  EXPECT_THAT(sh("everseen info new"), Prints(AllOf(HasSubstr("1.0e-04 promised"), HasSubstr("then grows"),
                                                    HasSubstr("window        10m in 10 slices"))));
  EXPECT_THAT(sh("everseen check new a"), Prints("seen\ta\n"));
  given("everseen migrate old bloom --keys keys --as redisbloom --error-rate 0.01");
  EXPECT_THAT(sh("everseen info bloom"), Prints(HasSubstr("redisbloom")));
}

TEST_F(Migrate, WritesToAnotherStoreAndToAnotherSystem) {
  const redis_server server;
  given("seq 500 > ids; everseen create old && everseen add -q old < ids");
  server.run({"CONFIG", "SET", "appendonly", "yes"});  // otherwise there is a warning
  EXPECT_THAT(sh("everseen migrate old new --keys ids --into " + server.url()),
              Prints(HasSubstr("500 keys")));
  EXPECT_THAT(sh("everseen check new -q --store " + server.url() + " < ids"), Prints(IsEmpty()));
  given(
      "everseen migrate old users --keys ids --as guava64 --error-rate 0.03 --funnel int && everseen create "
      "fresh "
      "--as guava64 --capacity 500 --error-rate 0.03 --funnel int && everseen add fresh -q < ids");
  EXPECT_THAT(sh("cmp <(everseen export users --to guava) <(everseen export fresh --to guava)"),
              Prints(IsEmpty()));
}

/// The feeder finishes its lines only when all except the content of a pipe was read.
// Promise: a migration that is killed leaves nothing visible (foreign-filters, Migrated filters).
TEST_F(Migrate, KilledWhileItReadsLeavesNothingBehind) {
  given("everseen create old && mkfifo keys");
  EXPECT_THAT(
      sh("(seq 200000; touch was_read; sleep 60) > keys & feeder=$!; everseen migrate old new --keys keys "
         "& pid=$!; until [ -e was_read ]; do sleep 0.01; done; kill -9 $pid; kill $feeder; wait $pid; "
         "everseen list; ls -A store"),
      testing::Field(&program_result::out, AllOf(HasSubstr("old"), Not(HasSubstr("new")))));
}

/// Where the kill was too late, NEW is complete, and the next kill may be earlier.
// Promise: a migration that is killed leaves nothing visible (foreign-filters, Migrated filters).
TEST_F(Migrate, KilledWhileItWritesMakesNothingVisible) {
  given("everseen create old; seq 1000 > keys; everseen add old -q < keys");
  EXPECT_THAT(sh("for i in $(seq 100); do"
                 "  everseen migrate old new --keys keys --capacity 10M -q 2> /dev/null & pid=$!;"
                 "  until compgen -G 'store/.new.*' || ! kill -0 $pid; do :; done > /dev/null 2>&1;"
                 "  kill -9 $pid; wait $pid;"
                 "  compgen -G 'store/.new.*' > /dev/null && break;"
                 "  everseen check new -q < keys && everseen drop new < /dev/null > /dev/null; "
                 "done 2> /dev/null; compgen -G 'store/.new.*' > /dev/null && everseen list && everseen "
                 "migrate old new "
                 "--keys keys && everseen check new -q < keys"),
              Prints(AllOf(HasSubstr("old"), Not(HasSubstr("\nnew")), HasSubstr("migrated old to new"))));
}

TEST_F(Migrate, ReadsAPipeOnce) {
  given("everseen create old && seq 1000 | everseen add old -q");
  EXPECT_THAT(sh("mkfifo keys; seq 1000 > keys & everseen migrate old new --keys keys"),
              Prints("migrated old to new: 1,000 keys given, 1,000 of them different, 0 unknown to old\n"));
}

TEST_F(Migrate, CountsTheKeysOfAFileThatIsStandardInput) {
  given("everseen create old; seq 5000 > keys");
  EXPECT_THAT(sh("everseen migrate old new --keys - -q < keys 2> /dev/null; everseen info new"),
              Prints(AllOf(HasSubstr("keys          5,000\n"), HasSubstr("capacity      5,000"))));
}

// Promise: options that are not given are as in the old filter (foreign-filters, Migrated filters).
TEST_F(Migrate, KeepsTheFunnelAndTheHash) {
  given(
      "seq 500 > ids; everseen create old --as guava32 --capacity 500 --error-rate 0.03 --funnel long && "
      "everseen add old -q < ids && everseen migrate old new --keys ids --as guava64 -q && everseen create "
      "fresh --as guava64 --capacity 500 --error-rate 0.03 --funnel long && everseen add fresh -q < ids");
  EXPECT_THAT(sh("cmp <(everseen export new --to guava) <(everseen export fresh --to guava)"),
              Prints(IsEmpty()));
  given(
      "everseen create secret --hash siphash && everseen add secret -q a && echo a | everseen migrate secret "
      "moved --keys - -q");
  EXPECT_THAT(sh("everseen info moved"), Prints(HasSubstr("siphash")));
}

TEST_F(Migrate, CountsAKeyThatTheOldFilterRefusesAsUnknownToIt) {
  given(
      "everseen create old --as guava64 --capacity 500 --funnel long -q && everseen add old -q 1 2; printf "
      "'id\\n1\\n2\\n' > ids");
  EXPECT_THAT(sh("everseen migrate old new --keys ids 2> /dev/null"),
              Prints(HasSubstr("3 keys given, 3 of them different, 1 unknown to old")));
  EXPECT_THAT(sh("everseen migrate old other --keys ids --as guava32"),
              Complains(2, "'id'", "line 1 of ids", "nothing was created"));
  EXPECT_THAT(sh("everseen list | grep -c other; true"), Prints("0\n"));
}

TEST_F(Migrate, RefusesImpossibleMigrations) {
  given("everseen create old && everseen create new && echo a > keys");
  EXPECT_THAT(sh("everseen migrate old new --keys keys"), Complains(2, "'new'", "exists"));
  EXPECT_THAT(sh("everseen migrate nope other --keys keys"), Complains(2, "'nope'"));
  EXPECT_THAT(sh("everseen migrate old other"), Complains(2, "--keys"));
  EXPECT_THAT(sh("everseen migrate old other --keys nowhere"), Complains(3, "nowhere"));
}

}  // namespace
}  // namespace everseen::test
