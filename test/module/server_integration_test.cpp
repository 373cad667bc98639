// The module from the view of a server and its administrators.

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/server_facts.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

TEST(Server, DocumentsTheCommands) {
  const redis_server server(test::with_module());
  std::istringstream list(server.run({"COMMAND", "LIST", "FILTERBY", "MODULE", "everseen"}));
  const std::set<std::string> names(std::istream_iterator<std::string>(list), {});
  EXPECT_THAT(names, IsSupersetOf({"everseen.add", "everseen.addpacked", "bf.add"}));
  for (const std::string& name : names)
    EXPECT_THAT(server.run({"COMMAND", "DOCS", name}),
                AllOf(HasSubstr("summary\n"), HasSubstr("module\neverseen")))
        << name;
  EXPECT_THAT(server.run({"COMMAND", "DOCS", "everseen.addpacked"}), HasSubstr("digests"));
}

TEST(Server, ReportsTheKeysOfTheCommands) {
  const redis_server server(test::with_module());
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.addpacked", "k", "t", "0", "q", "1", "d"}), "k\nt");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.claimpacked", "k", "r", "l", "h", "0", "0", "d", "o",
                        "", "p", "0", "c"}),
            "k\nr");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.merge", "k", "s"}), "k\ns");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.checkpacked", "k", "0", "d"}), "k");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.add", "k", "ITEMS", "a"}), "k");
}

TEST(Server, LetsAUserWithReadRightsLookUpOnly) {
  const redis_server server(test::with_module());
  server.run({"EVERSEEN.RESERVE", "everseen:f", "0.000001", "100"});
  server.run({"ACL", "SETUSER", "reader", "on", ">secret", "~everseen:*", "+everseen.check"});
  const auto as_reader = [&](std::vector<std::string> words) {
    const std::vector<std::vector<std::string>> both = {{"AUTH", "reader", "secret"}, std::move(words)};
    return test::raw_commands(server.unix_path(), both).back();
  };
  server.run({"EVERSEEN.ADD", "everseen:f", "ITEMS", "alice"});
  EXPECT_EQ(as_reader({"EVERSEEN.CHECK", "everseen:f", "ITEMS", "alice"}), "seen");
  EXPECT_THAT(as_reader({"EVERSEEN.CHECK", "other", "ITEMS", "alice"}), StartsWith("-NOPERM"));
  EXPECT_THAT(as_reader({"EVERSEEN.ADD", "everseen:f", "ITEMS", "alice"}), StartsWith("-NOPERM"));
}

TEST(Server, ChecksTheRightsOnTokensToo) {
  const redis_server server(test::with_module());
  server.run({"EVERSEEN.RESERVE", "f", "0.000001", "100"});
  server.run({"ACL", "SETUSER", "eve", "on", ">secret", "~f", "+@all"});
  const std::vector<std::string> add = {"EVERSEEN.ADDPACKED",   "f",    "f:t:eve",           "0",
                                        "00000000000000000001", "1000", std::string(16, 'x')};
  const std::vector<std::vector<std::string>> both = {{"AUTH", "eve", "secret"}, add};
  EXPECT_THAT(test::raw_commands(server.unix_path(), both).back(), StartsWith("-NOPERM"));
  server.run({"ACL", "SETUSER", "eve", "~f:t:*"});
  EXPECT_EQ(test::raw_commands(server.unix_path(), both).back(), "0");
}

TEST(Server, NotifiesListenersOfTheKeyspace) {
  const redis_server server(test::with_module());
  server.run({"CONFIG", "SET", "notify-keyspace-events", "Kd"});
  test::listener listening(server.unix_path(), "__keyspace@0__:f");
  server.run({"EVERSEEN.RESERVE", "f", "0.000001", "4"});
  EXPECT_EQ(listening.next(), "bf.reserve");
  server.run({"EVERSEEN.ADD", "f", "ITEMS", "alice"});
  EXPECT_EQ(listening.next(), "everseen.add");
  server.run({"EVERSEEN.ADD", "f", "ITEMS", "alice"});
  server.run({"EVERSEEN.SEAL", "f", "0123456789abcdef"});
  EXPECT_EQ(listening.next(), "everseen.seal") << "alice was there";
}

TEST(Server, CountsBatchesKeysAndVerdicts) {
  const redis_server server(test::with_module());
  server.run({"EVERSEEN.RESERVE", "f", "0.000001", "100"});
  server.run({"EVERSEEN.ADD", "f", "ITEMS", "a", "b", "a"});
  server.run({"EVERSEEN.CHECK", "f", "ITEMS", "a", "c"});
  server.run({"EVERSEEN.CHECK", "none", "ITEMS", "a"});
  server.run({"EVERSEEN.RESERVE", "g", "0.01", "100", "NONE"});
  server.run({"EVERSEEN.LOADCHUNK", "g", "1", "no header"});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"batches", "2"}, {"keys_added", "3"}, {"keys_checked", "2"}, {"fresh", "3"},
      {"seen", "2"},    {"refusals", "3"},   {"growths", "1"}};
  for (const auto& [field, number] : expected)
    EXPECT_EQ(field_of(server, "everseen", "everseen_" + field), number) << field;
}

// Promise: a call that MAX_SIZE or maxmemory refuses is counted among the refusals (module, Rights,
// statistics, notifications).
TEST(Server, CountsCallsThatAreRefusedForWantOfRoom) {
  const redis_server server(with_module_and({"MAX_SIZE", "1mb"}));
  const auto refusals = [&] { return field_of(server, "everseen", "everseen_refusals"); };
  EXPECT_THAT(server.run({"BF.RESERVE", "large", "0.000001", "10000000"}), HasSubstr("MAX_SIZE"));
  EXPECT_EQ(refusals(), "1");
  server.run({"BF.RESERVE", "f", "0.01", "100000"});
  const std::string used = field_of(server, "memory", "used_memory");
  server.run({"CONFIG", "SET", "maxmemory", std::to_string(std::stoull(used) + 50'000)});
  EXPECT_THAT(server.run({"BF.ADD", "f", "a"}), StartsWith("-OOM"));
  EXPECT_EQ(refusals(), "2");
}

/// The name of a setting of RedisBloom's: before Redis 8.0, all settings of modules begin with the module's
/// name.
std::string their_setting(const redis_server& server, const std::string& name) {
  return server.run({"CONFIG", "GET", name}).empty() ? "everseen." + name : name;
}

// Promise: settings are shown, changed and written by CONFIG (module, Settings).
TEST(Settings, AreChangedByConfig) {
  const redis_server server(with_module_and({"INITIAL_SIZE", "500"}));
  if (server.run({"CONFIG", "GET", "everseen.layout"}).empty()) GTEST_SKIP() << "a server before Redis 7.0";
  const std::string rate = their_setting(server, "bf-error-rate"),
                    size = their_setting(server, "bf-initial-size"),
                    expansion = their_setting(server, "bf-expansion-factor");
  EXPECT_EQ(server.run({"CONFIG", "GET", rate}), rate + "\n0.01");
  EXPECT_EQ(server.run({"CONFIG", "GET", size}), size + "\n500") << "as the words of loadmodule say";
  EXPECT_EQ(server.run({"CONFIG", "SET", rate, "0.001", size, "2000", "everseen.layout", "redisbloom",
                        "everseen.max-size", "1mb", expansion, "4"}),
            "OK");
  server.run({"BF.ADD", "f", "a"});
  EXPECT_EQ(server.run({"BF.INFO", "f", "CAPACITY"}), "2000");
  EXPECT_EQ(server.run({"BF.INFO", "f", "EXPANSION"}), "4");
  EXPECT_EQ(server.run({"TYPE", "f"}), "MBbloom--");
  EXPECT_THAT(server.run({"EVERSEEN.INFO", "f"}), HasSubstr("error_rate\n0.001\n"));
  EXPECT_THAT(server.run({"BF.RESERVE", "large", "0.000001", "10000000"}), HasSubstr("MAX_SIZE"));
  EXPECT_EQ(server.run({"CONFIG", "GET", "everseen.max-size"}), "everseen.max-size\n1048576");
}

TEST(Settings, AreLinesOfTheServersFile) {
  const redis_server server(
      with_module_and({"--everseen.layout", "redisbloom", "--everseen.max-size", "1mb"}));
  server.run({"BF.ADD", "f", "a"});
  EXPECT_EQ(server.run({"TYPE", "f"}), "MBbloom--");
  EXPECT_EQ(server.run({"CONFIG", "GET", "everseen.max-size"}), "everseen.max-size\n1048576");
}

TEST(Settings, ThatNoFilterCanHaveAreRefusedAndChangeNothing) {
  const redis_server server(test::with_module());
  if (server.run({"CONFIG", "GET", "everseen.layout"}).empty()) GTEST_SKIP() << "a server before Redis 7.0";
  const std::string rate = their_setting(server, "bf-error-rate");
  for (const char* wrong : {"0", "1", "-1", "x", "1e-16"})
    EXPECT_THAT(server.run({"CONFIG", "SET", rate, wrong}), StartsWith("-")) << wrong;
  EXPECT_EQ(server.run({"CONFIG", "GET", rate}), rate + "\n0.01");
  EXPECT_THAT(server.run({"CONFIG", "SET", their_setting(server, "bf-initial-size"), "0"}), StartsWith("-"));
  EXPECT_THAT(server.run({"CONFIG", "SET", "everseen.layout", "none"}), StartsWith("-"));
}

// Promise: RedisBloom's words for cuckoo filters may stay (module, In place of RedisBloom).
TEST(Settings, OfOtherTypesOfRedisBloomHaveNoEffect) {
  const redis_server server(with_module_and({"CF_MAX_EXPANSIONS", "16", "ERROR_RATE", "0.001"}));
  server.run({"BF.ADD", "f", "a"});
  EXPECT_THAT(server.run({"EVERSEEN.INFO", "f"}), HasSubstr("error_rate\n0.001\n"));
}

// Promise: DEL and SET of a large filter do not block the server while its memory is freed (module, Filters
// as keys: BF.*).
TEST(Server, FreesALargeFilterInAnotherThread) {
  const redis_server server(test::with_module());
  const auto used = [&] { return std::stoull(field_of(server, "memory", "used_memory")); };
  server.run({"BF.RESERVE", "f", "0.000001", "40000000"});
  server.run({"BF.ADD", "f", "a"});
  const auto large = used();
  ASSERT_GT(large, 100'000'000U);
  server.run({"DEL", "f"});
  test::wait_until([&] { return used() < large / 10; }, "the memory is free");
  server.run({"BF.RESERVE", "f", "0.000001", "40000000"});
  server.run({"BF.ADD", "f", "a"});
  server.run({"SET", "f", "text"});
  test::wait_until([&] { return used() < large / 10; }, "the memory is free");
  EXPECT_EQ(server.run({"GET", "f"}), "text");
}

}  // namespace
}  // namespace everseen::redis_module
