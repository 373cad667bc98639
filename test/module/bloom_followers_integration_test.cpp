// BF.* where something follows a server: replicas, the AOF, slots that move; and inside of what runs as a
// whole.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/slot_map.hpp"

#include "test/module/server_facts.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis_module {
namespace {

using test::redis_cluster;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using command = std::vector<std::string>;

std::vector<std::string> with_layout(const std::string& layout) {
  return joined(test::with_module(), {"LAYOUT", layout});
}

/// Random commands on a few filters, whatever their answers.
class random_commands {
 public:
  explicit random_commands(std::uint32_t seed) : dice_(seed) {}

  std::vector<command> take(std::size_t count) {
    std::vector<command> all(count);
    std::ranges::generate(all, [&] { return next(); });
    return all;
  }

 private:
  std::string name() { return "f" + std::to_string(dice_() % 5); }
  std::string key() { return std::to_string(dice_() % 50'000); }
  command with_keys(command words) {
    for (auto left = 1 + dice_() % 12; left > 0; --left) words.push_back(key());
    return words;
  }
  command next() {
    switch (dice_() % 400) {
      case 0:
        return {"DEL", name()};
      case 1:
        return {"RENAME", name(), name()};
      case 2:
      case 3:
        return {"COPY", name(), name(), "REPLACE"};
      case 4:
        return {"BF.RESERVE", name(), "0.001", std::to_string(1 + dice_() % 300)};
      case 5:
        return {"BF.RESERVE", name(), "0.01", std::to_string(1 + dice_() % 300), "NONSCALING"};
      case 6:
        return {"EXPIRE", name(), "100000"};
      case 7:
        return {"PERSIST", name()};
      case 8:
        return {"BF.SCANDUMP", name(), "0"};
      case 9:
      case 10:
        return {"BF.MERGE", name(), name()};
      case 11:
        return {"BF.MERGE", name(), name(), name()};
      default:
        break;
    }
    switch (dice_() % 6) {
      case 0:
        return {"BF.ADD", name(), key()};
      case 1:
        return with_keys({"BF.INSERT", name(), "CAPACITY", "40", "ERROR", "0.02", "ITEMS"});
      case 2:
        return with_keys({"BF.INSERT", name(), "NOCREATE", "ITEMS"});
      case 3:
        return with_keys({"BF.MEXISTS", name()});
      case 4:
        return {
            "EVAL",
            "redis.call('BF.ADD', KEYS[1], ARGV[1]); return redis.call('BF.MADD', KEYS[1], ARGV[2], ARGV[1])",
            "1",
            name(),
            key(),
            key()};
      default:
        return with_keys({"BF.MADD", name()});
    }
  }

  std::mt19937 dice_;
};

/// 10⁵, or as many as the soak asks for.
std::size_t random_count() {
  const char* const asked = std::getenv("EVERSEEN_BLOOM_COMMANDS");
  return asked != nullptr ? std::stoul(asked) : 100'000;
}

class BloomFollowers : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<std::string> config(std::vector<std::string> more = {}) const {
    return joined(with_layout(GetParam()), more);
  }
};

// Promise: replicas have the same bits (module, Filters as keys: BF.*).
TEST_P(BloomFollowers, ReplicaHasTheSameValuesAfterRandomCommands) {
  const redis_server master(config({"--repl-diskless-sync-delay", "0"}));
  const redis_server replica(config({"--replicaof", "127.0.0.1", std::to_string(master.port())}));
  random_commands random(11);
  for (std::size_t done = 0; done < random_count(); done += 5'000) {
    (void)test::raw_commands(master.unix_path(), random.take(5'000));
    if (done % 25'000 == 0) must_become_equal(master, replica);
  }
  must_become_equal(master, replica);
  EXPECT_NE(master.run({"DBSIZE"}), "0");
}

// Promise: an AOF that ends anywhere gives the filters of some moment (module, Filters as keys: BF.*).
TEST_P(BloomFollowers, AofThatEndsAnywhereHasTheFiltersOfSomeMoment) {
  redis_server server(config(test::with_aof()));
  test::torn_aof aof(server);
  const std::size_t before = aof.bytes().size();
  std::vector<std::string> moments = {content(server)};
  const std::vector<command> all = {
      {"BF.RESERVE", "f", "0.01", "10"},
      {"BF.ADD", "f", "a"},
      {"BF.MADD", "g", "a", "b"},
      {"BF.INSERT", "f", "ITEMS", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"},
      {"COPY", "f", "h"},
      {"BF.ADD", "h", "c"},
      {"DEL", "g"},
      {"EVAL", "redis.call('BF.ADD', KEYS[1], 'x'); redis.call('BF.ADD', KEYS[1], 'y')", "1", "s"}};
  for (const command& each : all) {
    (void)test::raw_command(server.unix_path(), each);
    moments.push_back(content(server));
  }
  const std::string bytes = aof.bytes();
  auto reached = moments.begin();
  const auto cuts = test::torn_aof::cuts(bytes, before);
  ASSERT_GE(cuts.size(), 2 * all.size());
  for (const std::size_t cut : cuts) {
    aof.end_with(bytes, cut);
    const auto found = std::find(reached, moments.end(), content(server));
    ASSERT_NE(found, moments.end()) << "cut after " << cut
                                    << " bytes: " << bytes.substr(before, cut - before);
    reached = found;
    EXPECT_THAT(server.run({"BF.ADD", "f", "a"}), AnyOf("0", "1"));
  }
  EXPECT_GE(reached, moments.end() - 2);
}

TEST_P(BloomFollowers, TransactionsAndScriptsAreRepeatedAsAWhole) {
  const redis_server master(config({"--repl-diskless-sync-delay", "0"}));
  const redis_server replica(config({"--replicaof", "127.0.0.1", std::to_string(master.port())}));
  const std::vector<command> transaction = {
      {"MULTI"},           {"BF.ADD", "f", "a"},    {"BF.ADD", "f", "a"},
      {"BF.INFO", "none"}, {"BF.EXISTS", "f", "a"}, {"EXEC"}};
  EXPECT_EQ(test::raw_commands(master.unix_path(), transaction).back(), "1\n0\n-ERR not found\n1");
  const std::vector<command> given_up = {{"MULTI"}, {"BF.ADD", "f", "never"}, {"DISCARD"}};
  EXPECT_EQ(test::raw_commands(master.unix_path(), given_up).back(), "OK");
  const std::vector<command> wrong = {{"MULTI"}, {"BF.ADD", "f"}, {"BF.ADD", "f", "never"}, {"EXEC"}};
  EXPECT_THAT(test::raw_commands(master.unix_path(), wrong).back(), StartsWith("-EXECABORT"));
  EXPECT_EQ(master.run({"BF.EXISTS", "f", "never"}), "0");
  EXPECT_EQ(master.run({"EVAL",
                        "local made = redis.call('BF.RESERVE', KEYS[1], 0.01, 10) "
                        "local wrong = redis.pcall('BF.ADD', KEYS[1]) "
                        "return {made, wrong.err ~= nil, redis.call('BF.MADD', KEYS[1], 'x', 'y', 'x')}",
                        "1", "s"}),
            "OK\n1\n1\n1\n0");
  EXPECT_THAT(master.run({"EVAL_RO", "return redis.call('BF.ADD', KEYS[1], 'z')", "1", "s"}),
              HasSubstr("Write commands are not allowed"));
  EXPECT_EQ(master.run({"EVAL_RO", "return redis.call('BF.EXISTS', KEYS[1], 'x')", "1", "s"}), "1");
  const std::vector<command> watching = {
      {"WATCH", "f"}, {"BF.ADD", "f", "b"}, {"MULTI"}, {"BF.CARD", "f"}, {"EXEC"}};
  EXPECT_EQ(test::raw_commands(master.unix_path(), watching).back(), "(nil)") << "an add is a change";
  const std::vector<command> unchanged = {
      {"WATCH", "f"}, {"BF.EXISTS", "f", "b"}, {"MULTI"}, {"BF.CARD", "f"}, {"EXEC"}};
  EXPECT_EQ(test::raw_commands(master.unix_path(), unchanged).back(), "2") << "a look-up is none";
  must_become_equal(master, replica);
}

TEST_P(BloomFollowers, ServerThatEvictsKeepsWholeFiltersOnItsReplicaToo) {
  const redis_server master(
      config({"--maxmemory-policy", "allkeys-random", "--repl-diskless-sync-delay", "0"}));
  const redis_server replica(config({"--replicaof", "127.0.0.1", std::to_string(master.port())}));
  must_become_equal(master, replica);
  master.run({"CONFIG", "SET", "maxmemory",
              std::to_string(std::stoll(field_of(master, "memory", "used_memory")) + 8'000'000)});
  std::vector<command> adds;
  for (int filter = 0; filter < 400; ++filter)
    adds.push_back({"BF.INSERT", "f" + std::to_string(filter), "CAPACITY", "50000", "ITEMS", "a", "b"});
  EXPECT_THAT(test::raw_commands(master.unix_path(), adds), Each("1\n1"));
  EXPECT_NE(field_of(master, "stats", "evicted_keys"), "0");
  EXPECT_LT(std::stoi(master.run({"DBSIZE"})), 400);
  must_become_equal(master, replica);
}

/// The key of a client of a cluster: the filter is asked for where it is.
class cluster_client {
 public:
  explicit cluster_client(redis_cluster& cluster) : cluster_(cluster) {}

  std::string run(const command& words) {
    for (;;) {
      std::vector<command> asked = {words};
      if (asks_) asked.insert(asked.begin(), {"ASKING"});
      const std::string message = test::raw_commands(cluster_.node(node_).unix_path(), asked).back();
      asks_ = message.starts_with("-ASK ");
      if (message.starts_with("-TRYAGAIN")) continue;
      if (!asks_ && !message.starts_with("-MOVED ")) return message;
      for (std::size_t i = 0; i < redis_cluster::masters; ++i)
        if (message.ends_with(cluster_.node(i).address())) node_ = i;
    }
  }

 private:
  redis_cluster& cluster_;
  std::size_t node_ = 0;
  bool asks_ = false;
};

// Promise: a filter moves with its slot while clients add keys (module, Filters as keys: BF.*).
TEST_P(BloomFollowers, SlotMovesWhileClientsAddAndNoKeyIsLostOrFreshTwice) {
  redis_cluster cluster(redis_cluster::replicas::none, config());
  const std::string name = "f";
  const unsigned slot = redis::slot_of(name);
  cluster_client(cluster).run({"BF.RESERVE", name, "0.000000000001", "200"});
  std::atomic<bool> moved{false};
  std::array<std::vector<std::string>, 3> added;
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < added.size(); ++c)
    clients.emplace_back([&, c] {
      cluster_client client(cluster);
      for (int i = 0; !moved || i < 200; ++i) {
        const std::string key = std::to_string(c) + ':' + std::to_string(i);
        const std::string message = client.run({"BF.ADD", name, key});
        // At this rate, a key that is called seen was judged twice.
        EXPECT_EQ(message, "1") << key;
        added[c].push_back(key);
      }
    });
  std::size_t from = slot * redis_cluster::masters / redis_cluster::slots;
  for (int round = 0; round < 4; ++round) {
    const std::size_t target = (from + 1) % redis_cluster::masters;
    cluster.begin_to_move(slot, from, target);
    cluster.move_keys(slot, from, target);
    cluster.finish_to_move(slot, target);
    from = target;
  }
  moved = true;
  for (std::thread& each : clients) each.join();
  cluster_client client(cluster);
  std::size_t keys = 0;
  for (const auto& each : added)
    for (const std::string& key : each) {
      EXPECT_EQ(client.run({"BF.EXISTS", name, key}), "1") << key;
      ++keys;
    }
  EXPECT_EQ(client.run({"BF.CARD", name}), std::to_string(keys));
}

INSTANTIATE_TEST_SUITE_P(Bloom, BloomFollowers, testing::Values("everseen", "redisbloom"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace everseen::redis_module
