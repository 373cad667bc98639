// Named filters on a Redis server, from the shell.

#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RedisFilters : public Shell {
 protected:
  /// With the server as the store.
  program_result on_redis(const std::string& line) const {
    return sh("export EVERSEEN_STORE=" + server_.url() + "; " + line);
  }
  void SetUp() override { server_.run({"CONFIG", "SET", "appendonly", "yes"}); }

  redis_server server_;
};

TEST_F(RedisFilters, EndAtTheTimeOfTheirCreationOptions) {
  EXPECT_THAT(on_redis("everseen create f --expire 4s"), Prints(HasSubstr("ends after 4s")));
  EXPECT_THAT(on_redis("everseen info f"), Prints(HasSubstr("\nexpires       20")));
  EXPECT_THAT(on_redis("everseen add f a"), Prints("1 fresh, 0 seen\n"));
  wait_until([&] { return on_redis("everseen list").out.empty(); }, "the filter ends");
  EXPECT_THAT(on_redis("everseen add f a"), Complains(2, "'f' has expired", "everseen create f"));
  EXPECT_THAT(on_redis("everseen list"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis("everseen create f -q && everseen check f a"), Prints("fresh\ta\n", 1));
}

TEST_F(RedisFilters, InFilesAlsoEnd) {
  EXPECT_THAT(sh("everseen create f --expire 4s"), Prints(HasSubstr("ends after 4s")));
  EXPECT_THAT(sh("everseen info f"), Prints(HasSubstr("\nexpires       20")));
  EXPECT_THAT(sh("everseen add f a"), Prints("1 fresh, 0 seen\n"));
  wait_until([&] { return sh("everseen list").out.empty(); }, "the filter ends");
  EXPECT_THAT(sh("everseen add f a"), Complains(2, "'f' has expired", "everseen create f"));
  EXPECT_THAT(sh("everseen create f -q && everseen check f a"), Prints("fresh\ta\n", 1));
}

TEST_F(RedisFilters, AreRenamedHereAndInFiles) {
  for (const bool here : {true, false}) {
    const auto run = [&](const std::string& line) { return here ? on_redis(line) : sh(line); };
    ASSERT_EQ(run("everseen create old -q && everseen create new -q && everseen add new a -q").exit_code, 0);
    EXPECT_THAT(run("everseen rename new old"), Complains(2, "'old' exists already"));
    EXPECT_THAT(run("everseen rename new old --replace"), Prints("new is called old now\n"));
    EXPECT_THAT(run("everseen check old a"), Prints("seen\ta\n"));
    EXPECT_THAT(run("everseen rename new other"), Complains(2, "new"));
    EXPECT_THAT(run("everseen rename old other -q"), Prints(IsEmpty()));
    EXPECT_THAT(run("everseen info other"), Prints(HasSubstr("other")));
  }
}

TEST_F(RedisFilters, ShowTheirPartitionsAndServers) {
  ASSERT_EQ(
      on_redis("everseen create f --capacity 1000 --partitions 2 && seq 5000 | everseen add f -q").exit_code,
      0);
  EXPECT_THAT(
      on_redis("everseen info f"),
      Prints(AllOf(HasSubstr("partition  layers"), HasSubstr("rate if full"), HasSubstr(server_.address()))));
  const auto info = nlohmann::json::parse(on_redis("everseen info f --json").out);
  ASSERT_EQ(info["parts"].size(), 2u);
  std::uint64_t keys = 0;
  for (const auto& part : info["parts"]) {
    keys += part["keys"].get<std::uint64_t>();
    EXPECT_EQ(part["layers"], 3);
    EXPECT_EQ(part["server"], server_.address());
    EXPECT_GT(part["bytes"], 0);
    EXPECT_LE(part["error_rate_now"], part["error_rate_when_full"]);
    EXPECT_LE(part["error_rate_when_full"], 1e-6);
  }
  EXPECT_EQ(keys, info["keys"]);
  EXPECT_THAT(info["warnings"], IsEmpty());
}

TEST_F(RedisFilters, WarnOfAServerThatMayEvictThem) {
  server_.run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto warns =
      testing::Field("err", &program_result::err,
                     AllOf(HasSubstr("warning: "), HasSubstr("allkeys-lru"), HasSubstr("noeviction")));
  EXPECT_THAT(on_redis("everseen create f"), warns);
  EXPECT_THAT(on_redis("everseen info f"), warns);
  EXPECT_EQ(nlohmann::json::parse(on_redis("everseen info f --json").out)["warnings"].size(), 1u);
  EXPECT_THAT(on_redis("everseen add f a"), Prints("1 fresh, 0 seen\n")) << "not every time";
}

TEST_F(RedisFilters, AreResetAndDropped) {
  EXPECT_THAT(
      on_redis("everseen create f -q && everseen add f -q a b && everseen reset f && everseen check f a"),
      Prints("fresh\ta\n", 1));
  EXPECT_THAT(on_redis("everseen drop f && everseen list"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis("everseen reset f"), Complains(2, "no filter named 'f'", "everseen create f"));
  EXPECT_THAT(on_redis("everseen drop f"), Complains(2, "no filter named 'f'"));
}

// Promise: no verb shows a filter that lacks a part as complete (redis, What holds for all filters on
// Redis).
TEST_F(RedisFilters, WithoutAPartitionAreShownByNoVerbAsComplete) {
  ASSERT_EQ(
      on_redis("everseen create f -q --partitions 2 && seq 50 | everseen add f -q && everseen create g -q")
          .exit_code,
      0);
  const std::string state = server_.run({"KEYS", "everseen:{*/1}"});
  server_.run({"DEL", state});
  EXPECT_THAT(on_redis("everseen info f"), Complains(4, state, "missing"));
  EXPECT_THAT(on_redis("seq 50 | xargs -n 1 everseen explain f"),
              Field("err", &program_result::err, HasSubstr(state)));
  const auto listed = on_redis("everseen list");
  EXPECT_EQ(listed.exit_code, 4);
  EXPECT_THAT(listed.out, AllOf(HasSubstr("f     cannot be read: "), HasSubstr(state), HasSubstr("\ng ")));
}

TEST_F(RedisFilters, WithoutTheirHeaderAreListedAsSuch) {
  ASSERT_EQ(on_redis("everseen create f -q").exit_code, 0);
  const std::string header = server_.run({"KEYS", "everseen:{????????????????????????????????}"});
  ASSERT_EQ(on_redis("everseen create g -q").exit_code, 0);
  ASSERT_EQ(server_.run({"DEL", header}), "1") << header;
  const auto listed = on_redis("everseen list");
  EXPECT_EQ(listed.exit_code, 4);
  EXPECT_THAT(listed.out, AllOf(HasSubstr("f     cannot be read: "), HasSubstr(header + " is missing")));
  EXPECT_THAT(on_redis("everseen list --names"), Prints("f\ng\n"));
}

// Promise: an export carries the same bits to files and back (redis, What holds for all filters on Redis).
TEST_F(RedisFilters, KeepTheirBytesToFilesAndBack) {
  const std::string redis = " --store " + server_.url();
  given("everseen create f --capacity 1000 --partitions 3" + redis + " && seq 5000 | everseen add f -q" +
        redis);
  EXPECT_THAT(sh("everseen export f -o one" + redis +
                 " && everseen import f one && everseen export f -o two && "
                 "everseen import g two" +
                 redis + " && everseen export g -o three" + redis),
              Prints(AllOf(HasSubstr("imported f"), HasSubstr("imported g"))));
  EXPECT_THAT(sh("diff <(seq 20000 | everseen check f) <(seq 20000 | everseen check g" + redis + ")"),
              Prints(IsEmpty()));
  // Each stream has its own ids, in every header, too, with a count and checksums: for each of 9 segments 32
  // bytes may differ, and 41 of the rest. The bits are the same.
  EXPECT_THAT(sh("test $(wc -c < one) = $(wc -c < three) && test $(cmp -l one three | wc -l) -le 329"),
              Prints(IsEmpty()));
  EXPECT_THAT(sh("test $(wc -c < one) -gt 10000"), Prints(IsEmpty()))
      << "otherwise the comparison means little";
  EXPECT_THAT(sh("everseen import g one" + redis), Complains(2, "'g' exists already", "choose another name"));
}

TEST_F(RedisFilters, AreRebuiltWithMoreRoom) {
  ASSERT_EQ(on_redis("everseen create f -q --capacity 1000 && seq 1 2000 | everseen add f -q").exit_code, 0);
  EXPECT_THAT(on_redis("seq 1001 3000 | everseen rebuild f --capacity 10k"),
              Prints("rebuilt f: 2,000 keys given, 10,000 keys at an error rate of 1.0e-06\n"));
  EXPECT_THAT(on_redis("seq 1001 3000 | everseen check f -q"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis("everseen check f 7"), Prints("fresh\t7\n", 1));
  EXPECT_THAT(on_redis("everseen info f"), Prints(HasSubstr("capacity      10,000")));
}

TEST_F(RedisFilters, AreRebuiltFromAnExport) {
  ASSERT_EQ(on_redis("everseen create f -q && everseen add f -q a && everseen export f -o copy && "
                     "everseen add f -q b && everseen create g -q && everseen export g -o other")
                .exit_code,
            0);
  EXPECT_THAT(on_redis("everseen rebuild f --from-export copy -q c"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis("everseen check f a b c"), Prints("seen\ta\nfresh\tb\nseen\tc\n", 1));
  EXPECT_THAT(on_redis("everseen rebuild f --from-export other"), Complains(2, "another seed"));
  EXPECT_THAT(on_redis("head -c 300 copy > cut; everseen rebuild f --from-export cut"), Complains(4));
  EXPECT_THAT(on_redis("everseen rebuild f --from-export copy --capacity 5"), Complains(2, "--capacity"));
  EXPECT_THAT(on_redis("everseen check f a c -q"), Prints(IsEmpty())) << "a failed command changes nothing";
}

TEST_F(RedisFilters, MissingFiltersAreReportedByEveryVerb) {
  for (const char* verb : {"export nope -o x", "info nope", "drop nope", "reset nope", "add nope a"})
    EXPECT_THAT(on_redis(std::string("everseen ") + verb), Complains(2, "everseen create nope")) << verb;
}

TEST_F(RedisFilters, OfAMissingServerAreWaitedForVisibly) {
  const std::string list = "everseen list --store 'redis://127.0.0.1:1?retry_for=60m' --timeout 3s";
  EXPECT_THAT(sh(list).err,
              testing::MatchesRegex("everseen: waiting: redis at 127.0.0.1:1: [^\n]* \\(for 3s at most\\)\n"
                                    "everseen: redis at 127.0.0.1:1: [^\n]*tried for [3-9][^\n]*\n"))
      << "without a terminal, one line more";
  const program_result shown = sh("script -qec \"" + list + "\" /dev/null < /dev/null 2>&1");
  EXPECT_THAT(shown.out, HasSubstr("\x1b[Kwaiting: redis at 127.0.0.1:1"));
  EXPECT_THAT(shown.out, HasSubstr("\r\x1b[Keverseen: redis at 127.0.0.1:1"))
      << "it disappears before the message";
  EXPECT_THAT(sh("everseen list --store redis://127.0.0.1:1 --timeout 0s"), Complains(2, "--timeout 0s"));
}

TEST_F(RedisFilters, OfARespondingServerAreListedWithATimeout) {
  EXPECT_THAT(on_redis("everseen create f -q && everseen list --names --timeout 5s"), Prints("f\n"));
  EXPECT_THAT(sh("everseen create f -q && everseen list --names --timeout 5s"), Prints("f\n"));
}

TEST_F(RedisFilters, OfAFullServerAreNotSilentlyForgotten) {
  ASSERT_EQ(on_redis("everseen create f -q && everseen add f -q a").exit_code, 0);
  server_.run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THAT(on_redis("everseen add f b"), Complains(3, "maxmemory"));
}

}  // namespace
}  // namespace everseen::test
