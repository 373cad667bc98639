// Filters that their clients judge, on a cluster: a slot that moves during calls, and a replica that takes
// over without some acknowledged data of its master.

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/slot_map.hpp"

#include "test/redis/failing_over.hpp"
#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_cluster;
using ::testing::HasSubstr;

/// Partitions of the only filter on a node, each with the key of its state.
std::vector<std::string> states_on(const test::redis_server& node) {
  return keys_like(node, "everseen:{*/*}");
}

TEST(JournalInACluster, SlotThatMovesDuringAnAddLosesNothing) {
  redis_cluster cluster;
  const auto filter =
      store_at(cluster.url())->create("clicks", judged_by_clients({.capacity = 50'000, .error_rate = 1e-12}));
  const auto beside = store_at(cluster.url())->open("clicks", access::write);
  random_digests random(81);
  const auto keys = random.take(2000);
  EXPECT_EQ(fresh_in(add_keys(*filter, keys)), 2000u);
  std::string state;
  std::size_t from = 0;
  for (; from < 3; ++from)
    if (const auto there = states_on(cluster.node(from)); !there.empty()) {
      state = there.front();
      break;
    }
  ASSERT_FALSE(state.empty());
  const unsigned slot = slot_of(state);
  const std::size_t target = (from + 1) % 3;
  cluster.begin_to_move(slot, from, target);
  EXPECT_EQ(fresh_in(check_keys(*beside, keys)), 0u);
  std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    cluster.move_keys(slot, from, target);
    std::this_thread::sleep_for(200ms);
    cluster.finish_to_move(slot, target);
  });
  std::uint64_t seen = 0;
  std::vector<digest> all = keys;
  for (int i = 0; i < 20; ++i) {
    const auto more = random.take(i % 3 == 0 ? many : 50);
    const auto got = add_keys(i % 2 == 0 ? *filter : *beside, more);
    ASSERT_TRUE(got.result) << got.result.error().message;
    seen += more.size() - fresh_in(got);
    all.insert(all.end(), more.begin(), more.end());
    std::this_thread::sleep_for(30ms);
  }
  later.join();
  EXPECT_EQ(seen, 0u);
  EXPECT_EQ(fresh_in(add_keys(*beside, all)), 0u);
  const auto newcomer = store_at(cluster.url())->open("clicks", access::write);
  EXPECT_EQ(fresh_in(add_keys(*newcomer, all)), 0u);
  EXPECT_EQ(test::keys_in(*newcomer), all.size());
}

// While a slot moves, its server redirects requests for missing keys to the other server. This includes the
// next chunk, which two alternating clients look for before it exists.
TEST(JournalInACluster, AlternatingClientsContinueWhileASlotMoves) {
  redis_cluster cluster;
  const auto one =
      store_at(cluster.url())
          ->create("clicks", judged_by_clients({.capacity = 50'000, .error_rate = 1e-12, .partitions = 1}));
  const auto other = store_at(cluster.url())->open("clicks", access::write);
  random_digests random(83);
  const auto add_in_turns = [&] {
    for (const auto& each : {one, other, one, other}) {
      EXPECT_EQ(fresh_in(add_keys(*each, random.take(100))), 100u);
    }
  };
  add_in_turns();
  std::size_t from = 0;
  while (from < 2 && states_on(cluster.node(from)).empty()) ++from;
  const auto states = states_on(cluster.node(from));
  ASSERT_FALSE(states.empty());
  cluster.begin_to_move(slot_of(states.front()), from, (from + 1) % 3);
  add_in_turns();
}

TEST(JournalInACluster, LaggingReplicaIsDetectedByClientsThatKnewMore) {
  redis_cluster cluster(redis_cluster::replicas::one_each);
  const auto open = [&] { return store_at(cluster.url())->open("clicks", access::write); };
  (void)store_at(cluster.url())
      ->create("clicks", judged_by_clients({.capacity = 20'000, .error_rate = 1e-12, .partitions = 24}));
  random_digests random(82);
  const auto before = random.take(1000);
  const auto lost = random.take(1000);
  const auto filter = open();
  EXPECT_EQ(fresh_in(add_keys(*filter, before)), 1000u);
  cut_replication(cluster);
  EXPECT_EQ(fresh_in(add_keys(*filter, lost)), 1000u);
  fail_over(cluster);
  const auto told = add_keys(*filter, random.take(500));
  ASSERT_FALSE(told.result);
  EXPECT_THAT(told.result.error().message,
              HasSubstr("came back without everything that it had acknowledged"));
  const auto newcomer = open();
  EXPECT_EQ(fresh_in(check_keys(*newcomer, before)), 0u);
  const std::uint64_t again = fresh_in(add_keys(*newcomer, lost));
  EXPECT_GT(again, 0u);
  EXPECT_LT(again, 1000u) << "the other masters have forgotten nothing";
  EXPECT_EQ(fresh_in(add_keys(*filter, lost)), 0u);
}

}  // namespace
}  // namespace everseen::redis
