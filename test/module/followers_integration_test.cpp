// Followers of a server with the module get the same bytes without the module: replicas, replicas of
// replicas, the AOF.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/module/module_server.hpp"

namespace everseen::redis_module {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::wait_until;

const std::vector<std::string> at_once = {"--repl-diskless-sync-delay", "0"};

std::vector<std::string> following(const redis_server& master) {
  return {"--replicaof", "127.0.0.1", std::to_string(master.port()), "--repl-diskless-sync-delay", "0"};
}

void wait_until_in_step(const redis_server& master, const redis_server& replica) {
  wait_until(
      [&] {
        return field_of(replica, "replication", "master_link_status") == "up" &&
               field_of(master, "replication", "master_repl_offset") ==
                   field_of(replica, "replication", "slave_repl_offset");
      },
      "the replica is in step");
}

/// Filters of all kinds, which grow and rotate while they are filled.
class busy_filters {
 public:
  explicit busy_filters(const redis_server& server) {
    for (const layout_kind layout : all_layouts)
      filters_.push_back(
          filter_at(server, std::string(to_string(layout)),
                    {.capacity = 1500, .error_rate = 1e-4, .layout = layout, .partitions = 2}));
    filters_.push_back(
        filter_at(server, "window", {.capacity = 500, .error_rate = 1e-4, .window = window_spec{60s, 3}}));
  }

  /// Some new keys, and some that occurred before.
  void add() {
    now_ += 10s;
    std::vector<digest> keys = random_.take(400);
    keys.insert(keys.end(), last_.begin(), last_.end());
    for (const auto& filter : filters_) {
      const auto got = add_keys(*filter, keys, now_);
      ASSERT_TRUE(got.result) << got.result.error().message;
    }
    keys.resize(200);
    last_ = keys;
  }

 private:
  random_digests random_{5};
  std::vector<std::shared_ptr<stored_filter>> filters_{};
  std::vector<digest> last_{};
  event_time now_{1000s};
};

// Promise: replicas and AOF files end with the same bytes, without the module (redis, Who judges).
TEST(Followers, ReplicaWithoutTheModuleHasTheSameBytes) {
  const redis_server master(joined(at_once, test::with_module()));
  const redis_server replica(following(master));
  wait_until_in_step(master, replica);
  busy_filters filters(master);
  for (int i = 0; i < 12; ++i) filters.add();
  wait_until_in_step(master, replica);
  EXPECT_EQ(content(master), content(replica));
  EXPECT_EQ(replica.run({"EVERSEEN.INFO", "everseen:window"}).substr(0, 20), "-ERR unknown command");
}

// Without followers nothing is propagated, so the moment at which the first one attaches matters.
TEST(Followers, ReplicaThatAttachesDuringAddsMissesNothing) {
  const redis_server master(joined(at_once, test::with_module()));
  busy_filters filters(master);
  for (int i = 0; i < 3; ++i) filters.add();
  std::vector<std::unique_ptr<redis_server>> replicas;
  for (int r = 0; r < 3; ++r) {
    replicas.push_back(std::make_unique<redis_server>(following(master)));
    while (field_of(*replicas.back(), "replication", "master_link_status") != "up") filters.add();
    filters.add();
  }
  for (const auto& replica : replicas) {
    wait_until_in_step(master, *replica);
    EXPECT_EQ(content(master), content(*replica));
  }
}

TEST(Followers, ReplicaThatLostItsConnectionContinuesWhereItWas) {
  const redis_server master(
      joined({"--repl-backlog-size", "64mb", "--repl-diskless-sync-delay", "0"}, test::with_module()));
  redis_server replica(following(master));
  wait_until_in_step(master, replica);
  busy_filters filters(master);
  filters.add();
  wait_until_in_step(master, replica);
  replica.run({"REPLICAOF", "127.0.0.1", "1"});
  wait_until([&] { return field_of(master, "replication", "connected_slaves") == "0"; }, "it has gone");
  for (int i = 0; i < 3; ++i) filters.add();
  replica.run({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  wait_until_in_step(master, replica);
  EXPECT_EQ(field_of(master, "stats", "sync_partial_ok"), "1");
  EXPECT_EQ(content(master), content(replica));
}

TEST(Followers, ReplicaThatBecomesMasterPropagatesToItsOwnReplicas) {
  auto master = std::make_unique<redis_server>(joined(at_once, test::with_module()));
  const redis_server second(joined(following(*master), test::with_module()));
  wait_until_in_step(*master, second);
  const redis_server third(following(second));
  busy_filters(*master).add();
  wait_until_in_step(*master, second);
  wait_until_in_step(second, third);
  master.reset();
  second.run({"REPLICAOF", "NO", "ONE"});
  busy_filters filters(second);
  for (int i = 0; i < 3; ++i) filters.add();
  wait_until_in_step(second, third);
  EXPECT_EQ(content(second), content(third));
}

// Promise: replicas and AOF files end with the same bytes, without the module (redis, Who judges).
TEST(Followers, AofIsReplayedByAServerWithoutTheModule) {
  const std::vector<std::string> aof = {"--appendonly", "yes", "--appendfsync", "always"};
  redis_server server(joined(aof, test::with_module()));
  busy_filters filters(server);
  for (int i = 0; i < 5; ++i) filters.add();
  const std::string before = content(server);
  server.kill();
  const redis_server plain(joined(aof, {"--dir", server.directory().string()}));
  EXPECT_EQ(content(plain), before);
}

TEST(Followers, AofThatWasSwitchedOnLaterIsComplete) {
  redis_server server(joined({"--appendfsync", "always"}, test::with_module()));
  busy_filters filters(server);
  filters.add();
  server.run({"CONFIG", "SET", "appendonly", "yes"});
  for (int i = 0; i < 3; ++i) filters.add();
  wait_until([&] { return field_of(server, "persistence", "aof_rewrite_in_progress") == "0"; }, "it is on");
  filters.add();
  const std::string before = content(server);
  server.kill();
  const redis_server plain({"--appendonly", "yes", "--dir", server.directory().string()});
  EXPECT_EQ(content(plain), before);
}

TEST(Followers, ReadOnlyReplicaLooksUpAndAddsNothing) {
  const redis_server master(joined(at_once, test::with_module()));
  const redis_server replica(joined(following(master), test::with_module()));
  (void)filter_at(master, "f", {.capacity = 100});
  EXPECT_EQ(master.run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
  wait_until_in_step(master, replica);
  EXPECT_EQ(replica.run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice", "bob"}), "1\n0");
  EXPECT_TRUE(replica.run({"EVERSEEN.ADDKEYS", "everseen:f", "bob"}).starts_with("-READONLY"));
  EXPECT_EQ(content(master), content(replica));
}

TEST(Followers, BatchOfAScriptReachesTheReplica) {
  const redis_server master(joined(at_once, test::with_module()));
  const redis_server replica(following(master));
  wait_until_in_step(master, replica);
  (void)filter_at(master, "f", {.capacity = 100});
  EXPECT_EQ(master.run({"EVAL", "return redis.call('EVERSEEN.ADDKEYS', KEYS[1], 'alice', 'alice')", "1",
                        "everseen:f"}),
            "1\n0");
  wait_until_in_step(master, replica);
  EXPECT_EQ(content(master), content(replica));
}

}  // namespace
}  // namespace everseen::redis_module
