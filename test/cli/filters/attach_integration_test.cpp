// Filters of other programs, from the shell.

#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"
#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Attach : public Shell {
 protected:
  /// With the server as the store, and a client for it.
  program_result on_redis(const std::string& line) const {
    return sh("export EVERSEEN_STORE=" + server_.url() + "; cli() { redis-cli -p " +
              std::to_string(server_.port()) + " \"$@\"; }; " + line);
  }
  void SetUp() override { server_.run({"CONFIG", "SET", "appendonly", "yes"}); }

  redis_server server_;
};

constexpr const char* gozero = "everseen attach uids --as gozero --bits 1000000 --key bloom:uids --create";

TEST_F(Attach, EveryVerbUsesTheFilter) {
  EXPECT_THAT(on_redis(gozero),
              Prints("attached uids: go-zero's Redis filter, 14 probes in 1000000 bits, error rate 0 now\n"));
  EXPECT_THAT(on_redis("everseen add uids alice bob alice"), Prints("2 fresh, 1 seen\n"));
  EXPECT_THAT(on_redis("everseen check uids alice carol"), Prints("seen\talice\nfresh\tcarol\n", 1));
  EXPECT_THAT(on_redis("printf 'bob\\ncarol\\ncarol\\n' | everseen dedup --filter uids"), Prints("carol\n"));
  EXPECT_THAT(on_redis("printf '{\"id\":\"b\\\\u006fb\"}\\n{\"id\":\"d\"}\\n' | everseen dedup --filter uids "
                       "--key-json /id"),
              Prints("{\"id\":\"d\"}\n"));
  EXPECT_THAT(on_redis("everseen list --names"), Prints("uids\n"));
  EXPECT_THAT(on_redis("everseen list"), Prints(HasSubstr("uids  ")));
  EXPECT_THAT(on_redis("everseen explain uids alice"),
              Prints(AllOf(StartsWith("seen: "), HasSubstr("14 of 14 bits set"))));
  EXPECT_THAT(on_redis("everseen info uids"), Prints(AllOf(HasSubstr("about 4"), HasSubstr("bloom:uids"))));
  EXPECT_THAT(on_redis("everseen drop uids --yes"), Prints("forgot uids; bloom:uids stays as it is\n"));
  EXPECT_THAT(on_redis("cli BITCOUNT bloom:uids"), Prints("56\n"));
}

TEST_F(Attach, EveryVerbUsesAFilterOfRedisson) {
  const std::string made =
      "cli HSET {mails}:config size 9585058 hashIterations 7 expectedInsertions 1000000 falseProbability "
      "0.01 "
      ">/dev/null; for p in $(everseen hash --as redisson --bits 9585058 --probes 7 alice); do "
      "cli SETBIT mails $p 1 >/dev/null; done; ";
  EXPECT_THAT(on_redis(made + "everseen attach mails --as redisson --key mails"),
              Prints(HasSubstr("attached mails: Redisson's RBloomFilter, 7 probes in 9585058 bits")));
  EXPECT_THAT(on_redis("everseen add mails bob alice"), Prints("1 fresh, 1 seen\n"));
  EXPECT_THAT(on_redis("everseen check mails bob carol"), Prints("seen\tbob\nfresh\tcarol\n", 1));
  EXPECT_THAT(on_redis("printf 'bob\\ncarol\\ncarol\\n' | everseen dedup --filter mails"), Prints("carol\n"));
  EXPECT_THAT(on_redis("everseen list --names"), Prints("mails\n"));
  EXPECT_THAT(on_redis("everseen explain mails alice"), Prints(HasSubstr("7 of 7 bits set")));
  EXPECT_THAT(on_redis("everseen info mails"), Prints(AllOf(HasSubstr("about 3"), HasSubstr("Redisson"))));
  EXPECT_THAT(on_redis("everseen create new --capacity 1000 -q && everseen link mails new && "
                       "everseen add new alice dave"),
              Prints(HasSubstr("1 fresh, 1 seen\n")));
  EXPECT_THAT(on_redis("everseen link --off new; printf 'alice\\nbob\\ncarol\\n' > keys; "
                       "everseen migrate mails moved --keys keys --strict -q; everseen check moved alice"),
              Prints(HasSubstr("seen\talice\n")));
  EXPECT_THAT(
      on_redis("cli HSET {mails}:config size 100 hashIterations 7 >/dev/null; everseen check mails bob"),
      Complains(4, "{mails}:config says size 100 and hashIterations 7"));
  EXPECT_THAT(on_redis("everseen drop mails --yes"), Prints("forgot mails; mails stays as it is\n"));
}

// At its planned size a Bloom filter has set half of its bits.
TEST_F(Attach, FilterOfRedissonPastItsPlannedSizeIsServed) {
  EXPECT_THAT(
      on_redis(
          "cli HSET {rs}:config size 9585 hashIterations 7 >/dev/null; "
          "everseen attach rs --as redisson --key rs && seq 1 1000 | everseen dedup --filter rs | wc -l"),
      Prints(AllOf(HasSubstr("attached rs"), HasSubstr("\n99"))));
  const serving server(server_.url());
  std::size_t added = 0;
  for (int first = 1001; first < 3000; first += 100) {
    std::vector<std::string> words = {"BF.MADD", "rs"};
    for (int key = first; key < first + 100; ++key) words.push_back(std::to_string(key));
    const std::string replies = server.cli(words);
    EXPECT_THAT(replies, testing::MatchesRegex("([01]\n)*[01]"));
    added += static_cast<std::size_t>(std::ranges::count(replies, '1'));
  }
  EXPECT_GT(added, 1500u) << "the others are false positives of a filter of three times its size";
}

TEST_F(Attach, SizesOfRedissonAreReadFromItsHash) {
  EXPECT_THAT(on_redis("everseen attach mails --as redisson --key mails"),
              Complains(2, "there is no hash {mails}:config"));
  EXPECT_THAT(on_redis("everseen attach mails --as redisson --key mails --bits 100"),
              Complains(2, "leave them out"));
  EXPECT_THAT(on_redis("everseen attach mails --as redisson --key mails --create"), Complains(2, "--create"));
  EXPECT_THAT(
      on_redis("cli HSET {mails}:config size 9585058 hashIterations 7 >/dev/null; everseen attach mails "
               "--as redisson --key mails --insertions 2M --rate 0.01"),
      Complains(2, "says 9585058 7 bits and probes and not 19170116 7"));
  EXPECT_THAT(on_redis("everseen attach mails --as redisson --key mails --insertions 1M --rate 0.01 -q"),
              Prints(IsEmpty()));
}

TEST_F(Attach, BitsAreThoseThatHashPrints) {
  ASSERT_EQ(on_redis(gozero).exit_code, 0);
  ASSERT_EQ(
      on_redis(
          "for p in $(everseen hash --as gozero --bits 1000000 theirs); do cli SETBIT bloom:uids $p 1; done")
          .exit_code,
      0);
  EXPECT_THAT(on_redis("everseen check uids theirs"), Prints("seen\ttheirs\n"));
  ASSERT_EQ(on_redis("everseen add uids ours").exit_code, 0);
  EXPECT_THAT(on_redis("for p in $(everseen hash --as gozero --bits 1000000 ours); do cli GETBIT bloom:uids "
                       "$p; done | sort -u"),
              Prints("1\n"));
}

TEST_F(Attach, InfoForProgramsNamesStringsAndDoubts) {
  ASSERT_EQ(on_redis("everseen attach c --as bkdr-php --bits 1000003 --probes 16 --key clicks --create && "
                     "seq 1000 | everseen add c -q")
                .exit_code,
            0);
  const auto info = nlohmann::json::parse(on_redis("everseen info c --json").out);
  EXPECT_EQ(info["attached"]["family"], "bkdr-php");
  EXPECT_EQ(info["attached"]["probes"], 16);
  EXPECT_EQ(info["strings"].size(), 1u);
  EXPECT_EQ(info["strings"][0]["key"], "clicks");
  EXPECT_GT(info["keys"], 500);
  EXPECT_THAT(info["warnings"].dump(), HasSubstr("1000 times as often"));
}

TEST_F(Attach, GuavaIsAttachedByTheArgumentsOfItsCreate) {
  EXPECT_THAT(on_redis("everseen attach m --as guava64 --insertions 500 --rate 0.03 --key mails --create"),
              Prints(HasSubstr("5 probes in 3712 bits")));
  EXPECT_THAT(
      on_redis("everseen attach n --as guava64 --funnel long --bits 3712 --probes 5 --key ids --create -q && "
               "everseen add n 1 2 three"),
      Complains(2, "'three'", "64 bits"));
  EXPECT_THAT(on_redis("everseen check n 1"), Prints("seen\t1\n")) << "the others were judged";
}

TEST_F(Attach, LinesThatTheFunnelRefusesAreLinesWithoutAKey) {
  ASSERT_EQ(
      on_redis("everseen attach n --as guava64 --funnel long --bits 3712 --probes 5 --key ids --create -q")
          .exit_code,
      0);
  EXPECT_THAT(
      on_redis("printf '1\\n2\\nx7\\n1\\n3\\n' | everseen dedup --filter n"),
      AllOf(testing::Field(&program_result::exit_code, 4), testing::Field(&program_result::out, "1\n2\n"),
            testing::Field(&program_result::err, HasSubstr("line 3 of standard input has a key that"))));
}

// Promise: verbs that judge warn of a key that is gone (foreign-filters, Attached filters).
TEST_F(Attach, MissingKeyIsReportedByEveryVerbThatJudges) {
  ASSERT_EQ(on_redis("cli SETBIT bloom:uids 5 1 && everseen attach uids --as gozero --bits 1000000 --key "
                     "bloom:uids && everseen add uids alice -q && cli DEL bloom:uids")
                .exit_code,
            0);
  const auto warns = testing::Field(&program_result::err, HasSubstr("was there when it was attached"));
  const auto says = [](const std::string& out) { return testing::Field(&program_result::out, out); };
  EXPECT_THAT(on_redis("everseen check uids alice"), AllOf(says("fresh\talice\n"), warns));
  EXPECT_THAT(on_redis("printf 'alice\\n' | everseen dedup --filter uids"), AllOf(says("alice\n"), warns));
  EXPECT_THAT(on_redis("everseen add uids bob"), Prints("1 fresh, 0 seen\n"));
}

TEST_F(Attach, CreateHidesNoDoubtExceptThatTheKeyIsMissing) {
  EXPECT_THAT(on_redis("everseen attach c --as bkdr-php --bits 1000003 --probes 16 --key clicks --create"),
              testing::Field(&program_result::err,
                             AllOf(HasSubstr("1000 times as often"), Not(HasSubstr("does not exist")))));
}

TEST_F(Attach, ItsBitsAreCopiedUnchanged) {
  ASSERT_EQ(on_redis(std::string(gozero) + " && seq 100 | everseen add uids -q").exit_code, 0);
  EXPECT_THAT(
      on_redis("everseen export uids --to raw -o ours && cli --raw GET bloom:uids | head -c -1 | cmp - "
               "ours && echo same"),
      Prints("same\n"));
  EXPECT_THAT(on_redis("everseen export uids --to raw --key other -o x"), Complains(2, "bloom:uids"));
  EXPECT_THAT(on_redis("everseen create own -q; everseen export own --to raw -o x"),
              Complains(2, "attached"));
}

TEST_F(Attach, DropRemovesFiltersThatCannotBeOpened) {
  ASSERT_EQ(on_redis(gozero).exit_code, 0);
  server_.run({"DEL", "bloom:uids"});
  server_.run({"RPUSH", "bloom:uids", "no bits"});
  EXPECT_EQ(on_redis("everseen check uids one").exit_code, 4);
  EXPECT_THAT(on_redis("everseen drop uids --yes"), Prints("forgot uids; bloom:uids stays as it is\n"));
}

TEST_F(Attach, ShardsAreOnTheServersOfTheUrl) {
  const redis_server other;
  // A slow machine takes seconds to make strings of half a gibibyte, and a client that waits for that says
  // so.
  const std::string both = " --store 'redis://" + server_.address() + "," + other.address() + "?timeout=2m'";
  EXPECT_THAT(
      on_redis("everseen attach c --as bkdr-php --bits 10Gi --sharded --key clicks --create 2>warnings" +
               both),
      Prints(HasSubstr("over 2 servers with 2 strings each")));
  const program_result added = on_redis("everseen add c one two three" + both);
  EXPECT_EQ(added.out, "3 fresh, 0 seen\n");
  EXPECT_THAT(added.err, testing::MatchesRegex("(everseen: waiting: redis at [^\n]*: no answer yet\n)*"));
  EXPECT_THAT(on_redis("everseen check c one two three -q" + both), Prints(IsEmpty()));
  EXPECT_THAT(on_redis("everseen check c one --store redis://" + other.address() + "," + server_.address()),
              Prints("seen\tone\n"));
}

TEST_F(Attach, ImpossibleCombinationsAreRefusedInALine) {
  EXPECT_THAT(on_redis("everseen attach a --bits 10 --key k"), Complains(2, "--as"));
  EXPECT_THAT(on_redis("everseen attach a --as gozero --key k"), Complains(2, "--bits"));
  EXPECT_THAT(on_redis("everseen attach a --as gozero --bits 10"), Complains(2, "--key"));
  EXPECT_THAT(on_redis("everseen attach a --as gozero --bits 10 --key k"),
              Complains(2, "no key k", "--create"));
  EXPECT_THAT(on_redis("everseen attach a --as redisbloom --bits 10 --key k"), Complains(2, "BF.SCANDUMP"));
  EXPECT_THAT(on_redis("everseen attach a --as gozero --bits 10 --key k --growing"),
              Complains(2, "--growing"));
  EXPECT_THAT(sh("everseen attach a --as gozero --bits 10 --key k"), Complains(2, "Redis"));
  ASSERT_EQ(on_redis(gozero).exit_code, 0);
  EXPECT_THAT(on_redis(gozero), Complains(2, "uids"));
  EXPECT_THAT(on_redis("everseen reset uids --yes"), Complains(2, "another program's"));
  EXPECT_THAT(on_redis("everseen rebuild uids a"), Complains(2, "another program's"));
  EXPECT_THAT(on_redis("everseen export uids -o out"), Complains(2, "go-zero", "--to raw"));
  EXPECT_THAT(on_redis("cli SADD set a && everseen attach b --as gozero --bits 10 --key set"),
              Complains(4, "no string"));
}

TEST_F(Attach, NewFilterMayAskIt) {
  ASSERT_EQ(
      on_redis(std::string(gozero) + " && everseen add uids alice -q && everseen create uids2 -q").exit_code,
      0);
  EXPECT_THAT(on_redis("everseen link uids uids2 --for 30d"), Prints("uids2 asks uids first, for 30d\n"));
  EXPECT_THAT(on_redis("everseen add uids2 alice bob"), Prints("1 fresh, 1 seen\n"));
  EXPECT_THAT(on_redis("printf 'alice\\ncarol\\n' | everseen dedup --filter uids2"), Prints("carol\n"));
  EXPECT_THAT(on_redis("everseen info uids2"), Prints(HasSubstr("asks uids first, until 20")));
  EXPECT_EQ(nlohmann::json::parse(on_redis("everseen info uids2 --json").out)["linked"]["older"], "uids");
  ASSERT_EQ(on_redis("everseen add uids dora -q").exit_code, 0);
  EXPECT_THAT(on_redis("everseen explain uids2 dora"), Prints(StartsWith("seen: 'uids'")));
  EXPECT_THAT(on_redis("everseen drop uids --yes"), Complains(2, "link --off uids2"));
  EXPECT_THAT(on_redis("everseen link --off uids2"), Prints("uids2 no longer asks another filter\n"));
  EXPECT_THAT(on_redis("everseen check uids2 alice dora"), Prints("seen\talice\nfresh\tdora\n", 1));
  EXPECT_THAT(on_redis("everseen drop uids --yes"), Prints(HasSubstr("forgot uids")));
  EXPECT_THAT(on_redis("everseen link uids2"), Complains(2, "two names"));
  EXPECT_THAT(sh("everseen link a b"), Complains(2, "no filter named 'a'"));
}

}  // namespace
}  // namespace everseen::test
