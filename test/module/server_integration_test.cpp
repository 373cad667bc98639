// The module from the view of a server and its administrators.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/module_server.hpp"

namespace everseen::redis_module {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Server, DocumentsTheCommands) {
  const redis_server server(test::with_module());
  for (const std::string command : {"add", "check", "addkeys", "checkkeys", "info", "explain"}) {
    const std::string name = "everseen." + command;
    EXPECT_THAT(server.run({"COMMAND", "DOCS", name}), HasSubstr("summary\n")) << name;
    EXPECT_THAT(server.run({"COMMAND", "DOCS", name}), HasSubstr("module\neverseen")) << name;
  }
  EXPECT_THAT(server.run({"COMMAND", "DOCS", "everseen.add"}), HasSubstr("digests"));
}

TEST(Server, ReportsTheKeysOfTheCommands) {
  const redis_server server(test::with_module());
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.add", "s", "t", "0", "0", "q", "1", "d"}), "s\nt");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.check", "s", "0", "0", "d"}), "s");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.addkeys", "f", "a", "b"}), "f");
}

TEST(Server, LetsAUserWithReadRightsLookUpOnly) {
  const redis_server server(test::with_module());
  (void)filter_at(server, "f", {.capacity = 100});
  server.run({"ACL", "SETUSER", "reader", "on", ">secret", "~everseen:*", "+everseen.checkkeys"});
  const auto as_reader = [&](std::vector<std::string> words) {
    const std::vector<std::vector<std::string>> both = {{"AUTH", "reader", "secret"}, std::move(words)};
    return test::raw_commands(server.unix_path(), both).back();
  };
  server.run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"});
  EXPECT_EQ(as_reader({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}), "1");
  EXPECT_THAT(as_reader({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), StartsWith("-NOPERM"));
}

TEST(Server, NotifiesListenersOfTheKeyspace) {
  const redis_server server(test::with_module());
  server.run({"CONFIG", "SET", "notify-keyspace-events", "Kd"});
  (void)filter_at(server, "f", {.capacity = 4, .partitions = 1});
  const std::string channel = "__keyspace@0__:" + state_of(server, "f");
  test::listener listening(server.unix_path(), channel);
  server.run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"});
  EXPECT_EQ(listening.next(), "everseen.grow");
  EXPECT_EQ(listening.next(), "everseen.add");
  server.run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"});
  server.run({"EVERSEEN.ADDKEYS", "everseen:f", "bob"});
  EXPECT_EQ(listening.next(), "everseen.add") << "for bob; alice was there";
}

TEST(Server, WithoutACommandThatBatchesNeedRefusesTheModule) {
  for (const std::string command : {"SETRANGE", "HSET", "SET", "BITFIELD"}) {
    const redis_server server(
        std::vector<std::string>{"--enable-module-command", "yes", "--rename-command", command, "other"});
    EXPECT_THAT(server.run({"MODULE", "LOAD", test::with_module().back()}), StartsWith("-ERR")) << command;
    EXPECT_EQ(server.run({"PING"}), "PONG");
  }
}

TEST(Server, TransactionWithBatchesIsAtomic) {
  const redis_server server(test::with_module());
  (void)filter_at(server, "f", {.capacity = 100, .error_rate = 1e-9});
  const std::vector<std::vector<std::string>> commands = {
      {"MULTI"},
      {"EVERSEEN.ADDKEYS", "everseen:f", "alice"},
      {"EVERSEEN.CHECKKEYS", "everseen:f", "alice", "bob"},
      {"EXEC"}};
  EXPECT_EQ(test::raw_commands(server.unix_path(), commands).back(), "1\n1\n0");
}

TEST(Server, WatcherOfASegmentNoticesABatch) {
  const redis_server server(test::with_module());
  (void)filter_at(server, "f", {.capacity = 100, .error_rate = 1e-9, .partitions = 1});
  server.run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"});
  const std::vector<std::vector<std::string>> commands = {{"WATCH", state_of(server, "f") + ":0.0"},
                                                          {"EVERSEEN.ADDKEYS", "everseen:f", "bob"},
                                                          {"MULTI"},
                                                          {"PING"},
                                                          {"EXEC"}};
  EXPECT_EQ(test::raw_commands(server.unix_path(), commands).back(), "(nil)");
}

TEST(Server, KeepsItsFiltersWithoutTheModule) {
  redis_server server(test::with_module());
  const auto filter = filter_at(server, "f", {.capacity = 1000, .error_rate = 1e-9});
  const auto keys = random_digests(3).take(500);
  ASSERT_EQ(add_keys(*filter, keys).result->fresh, 500U);
  const std::string before = content(server);
  server.restart_with({});
  EXPECT_EQ(content(server), before);

  const auto other = redis::redis_store(redis::parse_redis_url(server.url())).open("f", access::write);
  EXPECT_EQ(check_keys(*other, keys).result->seen, 500U);
  EXPECT_EQ(other->path().text, "redis, script");
  const auto more = random_digests(4).take(500);
  EXPECT_EQ(add_keys(*other, more).result->fresh, 500U);
  EXPECT_FALSE(check_keys(*filter, keys).result) << "its URL asks for the module";

  server.restart_with(test::with_module());
  EXPECT_EQ(check_keys(*filter, more).result->seen, 500U);
}

TEST(Server, JudgesInPortionsWhileASnapshotIsSaved) {
  const redis_server server(joined({"--rdb-key-save-delay", "1000000"}, test::with_module()));
  // The first call sets enough scattered bits to copy every page of 60 MB, which takes longer than it may.
  const auto filter = filter_at(server, "f",
                                {.capacity = 15'000'000,
                                 .error_rate = 1e-6,
                                 .layout = layout_kind::classic,
                                 .probes = 20,
                                 .partitions = 1});
  ASSERT_TRUE(add_keys(*filter, random_digests(1).take(1)).result);
  ASSERT_THAT(server.run({"BGSAVE"}), StartsWith("Background saving started"));
  const std::string before = field_of(server, "everseen", "everseen_batches");
  const auto keys = random_digests(2).take(50'000);
  const auto got = add_keys(*filter, keys);
  ASSERT_EQ(field_of(server, "persistence", "rdb_bgsave_in_progress"), "1") << "it ended too early";
  EXPECT_EQ(std::ranges::count(got.verdicts, verdict::unknown), 0);
  EXPECT_GE(std::ranges::count(got.verdicts, verdict::fresh), 49'990);
  const long calls = std::stol(field_of(server, "everseen", "everseen_batches")) - std::stol(before);
  EXPECT_GT(calls, 50'000 / 16'384 + 1) << "no answer was shorter than its batch, so nothing was tested";
  EXPECT_EQ(check_keys(*filter, keys).result->seen, 50'000U);
}

TEST(Server, RemembersABatchAsScriptsDo) {
  const redis_server server(test::with_module());
  const auto filter = filter_at(server, "f", {.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  ASSERT_TRUE(add_keys(*filter, random_digests(3).take(1)).result);
  const std::string state = state_of(server, "f"), token = state + ":t:me";
  const std::string first = "00000000000000000001", second = "00000000000000000002";
  const auto add = [&](const std::string& sequence) {
    const auto keys = random_digests(9).take(3);
    const std::string digests(reinterpret_cast<const char*>(keys.data()), 3 * sizeof(digest));
    return server.run({"EVERSEEN.ADD", state, token, server.run({"HGET", state, "epoch"}), "0", sequence,
                       "600000", digests});
  };
  EXPECT_EQ(add(first), "000");
  EXPECT_EQ(server.run({"GET", token}), first + "000");
  EXPECT_GT(std::stoll(server.run({"PTTL", token})), 500'000);
  server.run({"SET", token, second + "010"});  // as a script would have left it
  EXPECT_EQ(add(second), "010");
  EXPECT_GT(std::stoll(server.run({"PTTL", token})), 500'000) << "for its whole lifetime again";
}

}  // namespace
}  // namespace everseen::redis_module
