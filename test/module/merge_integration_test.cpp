// BF.MERGE: all keys of filters with one spec and seed in one of them.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/server_facts.hpp"
#include "test/support/binomial.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void add(const redis_server& server, const std::string& name, int from, int end) {
  std::vector<std::string> words = {"BF.MADD", name};
  for (int i = from; i < end; ++i) words.push_back(std::to_string(i));
  EXPECT_THAT(test::raw_command(server.unix_path(), words), ::testing::Not(StartsWith("-")));
}

/// How many of these keys a filter has.
int found(const redis_server& server, const std::string& name, int from, int end) {
  std::vector<std::string> words = {"BF.MEXISTS", name};
  for (int i = from; i < end; ++i) words.push_back(std::to_string(i));
  const std::string answers = test::raw_command(server.unix_path(), words);
  return static_cast<int>(std::ranges::count(answers, '1'));
}

class BloomMerge : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<std::string> config(std::vector<std::string> more = {}) const {
    return joined(joined(test::with_module(), {"LAYOUT", GetParam()}), more);
  }
};

INSTANTIATE_TEST_SUITE_P(Bloom, BloomMerge, testing::Values("everseen", "redisbloom"),
                         [](const auto& layout) { return layout.param; });

// Promise: BF.MERGE adds all keys of filters with the same properties and seed (module, Filters as keys:
// BF.*).
TEST_P(BloomMerge, AddsTheKeysOfAllSources) {
  const redis_server server(config());
  server.run({"BF.RESERVE", "week", "0.000001", "10000"});
  EXPECT_EQ(server.run({"COPY", "week", "mon"}), "1");
  EXPECT_EQ(server.run({"COPY", "week", "tue"}), "1");
  add(server, "mon", 0, 600);
  add(server, "tue", 400, 1000);
  EXPECT_EQ(server.run({"BF.MERGE", "week", "mon", "tue"}), "OK");
  EXPECT_EQ(found(server, "week", 0, 1000), 1000);
  EXPECT_EQ(found(server, "week", 1000, 3000), 0);
  EXPECT_NEAR(std::stoi(server.run({"BF.CARD", "week"})), 1000, 5);
  EXPECT_EQ(found(server, "mon", 600, 1000), 0) << "a source has changed";
}

TEST_P(BloomMerge, DestinationIsCreatedLikeTheFirstSource) {
  const redis_server server(config());
  server.run({"BF.RESERVE", "a", "0.000000001", "100", "EXPANSION", "4"});
  add(server, "a", 0, 250);
  EXPECT_EQ(server.run({"BF.MERGE", "b", "a"}), "OK");
  EXPECT_EQ(found(server, "b", 0, 250), 250);
  EXPECT_EQ(server.run({"BF.INFO", "b"}), server.run({"BF.INFO", "a"}));
  add(server, "b", 250, 260);
  EXPECT_EQ(found(server, "a", 250, 260), 0);
  EXPECT_EQ(server.run({"BF.MERGE", "a", "b"}), "OK") << "they are siblings";
  EXPECT_EQ(found(server, "a", 250, 260), 10);
}

TEST_P(BloomMerge, IsDoneWholeOrNotAtAll) {
  const redis_server server(config());
  server.run({"BF.RESERVE", "a", "0.000001", "1000", "NONSCALING"});
  for (const auto* name : {"b", "c"}) server.run({"COPY", "a", name});
  add(server, "a", 0, 400);
  add(server, "b", 400, 800);
  add(server, "c", 800, 1200);
  const std::string before = server.run({"DEBUG", "DIGEST-VALUE", "a"});
  EXPECT_THAT(server.run({"BF.MERGE", "a", "b", "c"}), HasSubstr("keys instead of at most 1000"));
  EXPECT_THAT(server.run({"BF.MERGE", "none", "a", "b", "c"}), HasSubstr("keys instead of at most 1000"));
  EXPECT_THAT(server.run({"BF.MERGE", "a", "b", "none"}), HasSubstr("not found"));
  EXPECT_EQ(server.run({"EXISTS", "none"}), "0");
  EXPECT_EQ(server.run({"DEBUG", "DIGEST-VALUE", "a"}), before);
  EXPECT_EQ(server.run({"BF.MERGE", "a", "b"}), "OK");
}

TEST_P(BloomMerge, ManySmallSourcesCannotExceedTheErrorRate) {
  const redis_server server(config());
  for (const std::vector<std::string>& growth : {std::vector<std::string>{}, {"NONSCALING"}}) {
    server.run({"FLUSHALL"});
    (void)test::raw_command(server.unix_path(), joined({"BF.RESERVE", "empty", "0.01", "1000"}, growth));
    server.run({"COPY", "empty", "all"});
    add(server, "all", 0, 950);
    int refused = 0;
    for (int from = 1000; from < 6000; from += 50) {
      server.run({"COPY", "empty", "small", "REPLACE"});
      add(server, "small", from, from + 50);
      refused += server.run({"BF.MERGE", "all", "small"}) == "OK" ? 0 : 1;
    }
    EXPECT_GT(refused, 90);
    EXPECT_LE(found(server, "all", 100'000, 110'000), static_cast<int>(test::binomial_bound(10'000, 0.01)));
    const std::string image = server.run({"DEBUG", "DIGEST-VALUE", "all"});
    EXPECT_EQ(server.run({"DEBUG", "RELOAD"}), "OK");
    EXPECT_EQ(server.run({"DEBUG", "DIGEST-VALUE", "all"}), image);
  }
}

// What the master has decided, a replica does not refuse: its keys would be lost without a word.
TEST_P(BloomMerge, ReplicaTakesWhatItsMasterHasMerged) {
  const redis_server server(config());
  const redis_server replica(config({"--replicaof", "127.0.0.1", std::to_string(server.port())}));
  server.run({"BF.RESERVE", "a", "0.000001", "1000", "NONSCALING"});
  server.run({"COPY", "a", "b"});
  add(server, "a", 0, 500);
  add(server, "b", 500, 990);
  test::wait_until(
      [&] {
        return replica.run({"BF.CARD", "b"}) == server.run({"BF.CARD", "b"});
      },
      "it follows");
  replica.run({"CONFIG", "SET", "replica-read-only", "no"});
  add(replica, "a", 5000, 5200);
  EXPECT_EQ(server.run({"BF.MERGE", "a", "b"}), "OK");
  test::wait_until([&] { return found(replica, "a", 500, 990) == 490; }, "the replica has the keys");
}

TEST_P(BloomMerge, MergeWithoutEffectIsNotRepeatedElsewhere) {
  const redis_server server(config({"--appendonly", "yes"}));
  server.run({"BF.RESERVE", "a", "0.01", "1000"});
  server.run({"COPY", "a", "b"});
  add(server, "b", 0, 10);
  const auto size = [&] { return server.run({"INFO", "persistence"}); };
  EXPECT_EQ(server.run({"BF.MERGE", "a", "b"}), "OK");
  const std::string changes = server.run({"INFO", "persistence"});
  const auto changes_in = [](const std::string& info) {
    return info.substr(info.find("rdb_changes_since_last_save"), 40);
  };
  EXPECT_EQ(server.run({"BF.MERGE", "a", "b"}), "OK");
  EXPECT_EQ(changes_in(size()), changes_in(changes));
}

TEST_P(BloomMerge, RefusesWhatIsNoSibling) {
  const redis_server server(config());
  server.run({"BF.RESERVE", "a", "0.01", "1000"});
  server.run({"BF.RESERVE", "larger", "0.01", "2000"});
  server.run({"SET", "text", "x"});
  EXPECT_THAT(server.run({"BF.MERGE", "a", "larger"}), HasSubstr("cannot be merged"));
  EXPECT_THAT(server.run({"BF.MERGE", "a", "text"}), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(server.run({"BF.MERGE", "text", "a"}), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(server.run({"BF.MERGE", "a"}), HasSubstr("wrong number of arguments"));
  EXPECT_EQ(server.run({"BF.MERGE", "a", "a"}), "OK");
}

TEST(BloomMergeOfSeeds, FiltersOfEverseenHaveSeedsOfTheirOwn) {
  const redis_server server(test::with_module());
  for (const auto* name : {"a", "b"}) server.run({"BF.RESERVE", name, "0.01", "1000"});
  EXPECT_THAT(server.run({"BF.MERGE", "a", "b"}), HasSubstr("differ in their secret seed"));
  server.run({"EVERSEEN.RESERVE", "w", "0.01", "1000", "WINDOW", "1000"});
  EXPECT_THAT(server.run({"BF.MERGE", "x", "w"}), HasSubstr("has a window"));
}

TEST_P(BloomMerge, ReplicaAndAofHaveTheSame) {
  redis_server server(config({"--appendonly", "yes", "--appendfsync", "always"}));
  const redis_server replica(config({"--replicaof", "127.0.0.1", std::to_string(server.port())}));
  server.run({"BF.RESERVE", "a", "0.001", "100"});
  server.run({"COPY", "a", "b"});
  add(server, "a", 0, 90);
  add(server, "b", 30, 400);
  EXPECT_EQ(server.run({"BF.MERGE", "c", "b", "b"}), "OK");
  EXPECT_EQ(server.run({"EVAL", "return redis.call('BF.MERGE', KEYS[1], KEYS[2])", "2", "d", "c"}), "OK");
  const auto digests = [](const redis_server& follower) {
    return follower.run({"DEBUG", "DIGEST-VALUE", "a", "b", "c", "d"});
  };
  const std::string before = digests(server);
  test::wait_until([&] { return digests(replica) == before; }, "the replica has everything");
  server.kill();
  server.start();
  EXPECT_EQ(digests(server), before);
}

TEST_P(BloomMerge, WhatWouldExceedMaxmemoryChangesNothing) {
  const redis_server server(config({"--maxmemory", "40mb"}));
  server.run({"BF.RESERVE", "a", "0.001", "10000000"});
  add(server, "a", 0, 10);
  EXPECT_THAT(server.run({"BF.MERGE", "b", "a"}), ::testing::AnyOf(StartsWith("-OOM"), "OK"));
  server.run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THAT(server.run({"BF.MERGE", "c", "a"}), StartsWith("-OOM"));
  EXPECT_EQ(server.run({"EXISTS", "c"}), "0");
}

TEST_P(BloomMerge, NamesItsKeysToTheServer) {
  const redis_server server(config());
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c"}), "a\nb\nc");
  server.run({"ACL", "SETUSER", "reader", "on", "nopass", "+@all", "%R~src", "~dest"});
  server.run({"BF.RESERVE", "src", "0.01", "100"});
  EXPECT_EQ(server.run({"ACL", "DRYRUN", "reader", "BF.MERGE", "dest", "src"}), "OK");
  EXPECT_THAT(server.run({"ACL", "DRYRUN", "reader", "BF.MERGE", "src", "dest"}),
              HasSubstr("no permissions"));
}

}  // namespace
}  // namespace everseen::redis_module
