// The module in a cluster: keys that move are never mistaken for damage, and nothing is created on the wrong
// server.

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/slot_map.hpp"

#include "test/module/module_server.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/opened_job.hpp"

namespace everseen::redis_module {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_cluster;
using ::testing::AnyOf;
using ::testing::StartsWith;

class Cluster : public testing::Test {
 protected:
  std::shared_ptr<stored_filter> make(spec_request request, const std::string& options = "?commands=module") {
    redis::redis_store store(redis::parse_redis_url(cluster_.url(options)));
    request.seed = hash_seed{};
    auto made = store.create("f", store.plan(request));
    auto& home = cluster_.owner(redis::slot_of(redis::filter_keys::index("everseen")));
    state_ = state_of(home, "f");
    slot_ = redis::slot_of(state_);
    from_ = slot_ * redis_cluster::masters / redis_cluster::slots;
    to_ = (from_ + 1) % redis_cluster::masters;
    return made;
  }
  /// And back.
  void move_there_and_back() {
    for (int round = 0; round < 3; ++round) {
      cluster_.begin_to_move(slot_, from_, to_);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      cluster_.move_keys(slot_, from_, to_);
      cluster_.finish_to_move(slot_, to_);
      std::swap(from_, to_);
    }
  }
  redis_server& here() { return cluster_.node(from_); }
  redis_server& there() { return cluster_.node(to_); }

  redis_cluster cluster_{redis_cluster::replicas::none, test::with_module()};
  std::string state_;
  unsigned slot_ = 0;
  std::size_t from_ = 0, to_ = 0;
};

TEST_F(Cluster, StateOfAPartitionAcceptsPlainKeys) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  EXPECT_EQ(here().run({"EVERSEEN.ADDKEYS", state_, "alice", "bob", "alice"}), "1\n1\n0");
  EXPECT_THAT(there().run({"EVERSEEN.ADDKEYS", state_, "alice"}), StartsWith("-MOVED"));
}

TEST_F(Cluster, MovingSlotIsNotDamageAndNothingIsCreated) {
  const auto filter = make({.capacity = 10, .error_rate = 1e-9, .partitions = 1});
  ASSERT_TRUE(add_keys(*filter, random_digests(3).take(9)).result);
  const std::string segment = state_ + ":0.0";
  cluster_.begin_to_move(slot_, from_, to_);
  const auto move = [&](const std::string& key) {
    return here().run({"MIGRATE", "127.0.0.1", std::to_string(there().port()), key, "0", "5000"});
  };
  std::string said;
  for (int i = 0; i < 40; ++i) {  // more than there is room for
    said = here().run({"EVERSEEN.ADDKEYS", state_, "key" + std::to_string(i)});
    EXPECT_THAT(said, AnyOf("1", StartsWith("-TRYAGAIN"))) << i;
  }
  EXPECT_THAT(said, StartsWith("-TRYAGAIN")) << "it had to grow, and must not";
  ASSERT_EQ(move(segment), "OK");
  EXPECT_THAT(here().run({"EVERSEEN.CHECKKEYS", state_, "key0"}), StartsWith("-TRYAGAIN"));
  EXPECT_THAT(here().run({"EVERSEEN.ADDKEYS", state_, "key0"}), StartsWith("-TRYAGAIN"));

  cluster_.move_keys(slot_, from_, to_);
  cluster_.finish_to_move(slot_, to_);
  for (int i = 0; i < 40; ++i) (void)there().run({"EVERSEEN.ADDKEYS", state_, "key" + std::to_string(i)});
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(there().run({"EVERSEEN.CHECKKEYS", state_, "key" + std::to_string(i)}), "1") << i;
}

// The destination of a slot: clients send ASKING to it, and it has some of the keys.
class ClusterTarget : public Cluster {
 protected:
  void move(const std::string& key) {
    ASSERT_EQ(here().run({"MIGRATE", "127.0.0.1", std::to_string(there().port()), key, "0", "5000"}), "OK");
  }
  std::string ask_there(std::vector<std::string> words) {
    const std::vector<std::vector<std::string>> both = {{"ASKING"}, std::move(words)};
    return test::raw_commands(there().unix_path(), both).back();
  }
};

TEST_F(ClusterTarget, DoesNotMistakeASegmentThatHasNotArrivedForDamage) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  ASSERT_EQ(here().run({"EVERSEEN.ADDKEYS", state_, "alice"}), "1");
  cluster_.begin_to_move(slot_, from_, to_);
  move(state_);
  const std::string epoch = ask_there({"HGET", state_, "epoch"});
  const std::string digests(16, 'x');
  EXPECT_THAT(ask_there({"EVERSEEN.CHECK", state_, epoch, "0", digests}), StartsWith("-TRYAGAIN"));
  EXPECT_THAT(ask_there({"EVERSEEN.CHECKKEYS", state_, "alice"}), StartsWith("-TRYAGAIN"));
  EXPECT_THAT(ask_there({"EVERSEEN.ADDKEYS", state_, "bob"}), StartsWith("-TRYAGAIN"));
  cluster_.move_keys(slot_, from_, to_);
  EXPECT_EQ(ask_there({"EVERSEEN.CHECKKEYS", state_, "alice"}), "1");
  cluster_.finish_to_move(slot_, to_);
}

// The other server may have started to create it, and its segment would later replace ours.
TEST_F(ClusterTarget, CreatesNoSegmentWhileOthersAreMoving) {
  (void)make({.capacity = 10, .error_rate = 1e-9, .partitions = 1});
  ASSERT_EQ(here().run({"EVERSEEN.ADDKEYS", state_, "alice"}), "1");
  ASSERT_EQ(here().run({"SETRANGE", state_ + ":0.1", "63", "x"}), "64");
  cluster_.begin_to_move(slot_, from_, to_);
  for (const std::string& key : {state_, state_ + ":0.0"}) move(key);
  std::string said;
  for (int i = 0; i < 40; ++i) {
    said = ask_there({"EVERSEEN.ADDKEYS", state_, "key" + std::to_string(i)});
    EXPECT_THAT(said, AnyOf("1", StartsWith("-TRYAGAIN"))) << i;
  }
  EXPECT_THAT(said, StartsWith("-TRYAGAIN"));
  EXPECT_EQ(ask_there({"EXISTS", state_ + ":0.1"}), "0");
}

TEST_F(Cluster, ClientRetriesThroughAMoveWhileItAdds) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1}, "");
  random_digests random(3);
  const auto keys = random.take(3000);
  std::jthread mover([&] { move_there_and_back(); });
  std::size_t fresh = 0;
  for (std::size_t at = 0; at < keys.size(); at += 20) {
    const auto got = add_keys(*filter, std::span(keys).subspan(at, 20));
    ASSERT_TRUE(got.result) << got.result.error().message;
    fresh += got.result->fresh;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  mover.join();
  EXPECT_EQ(fresh, keys.size());
  EXPECT_EQ(check_keys(*filter, keys).result->seen, keys.size());
}

/// Ten slices in turn, so that each call concerns all of them; every third event is repeated. Scripts judge
/// half of the claims.
TEST_F(Cluster, JobInAWindowCountsEachEventOnceWhileItsSlotMoves) {
  const auto filter = make({.capacity = 1000,
                            .error_rate = 1e-12,
                            .window = window_spec{std::chrono::minutes(10), 10},
                            .partitions = 3},
                           "");
  const auto by_module = filter->open_ledger("count", "");
  const test::opened_job by_scripts(
      redis::redis_store(redis::parse_redis_url(cluster_.url("?commands=script"))).open("f", access::write));
  random_digests random(5);
  auto events = test::new_events(random, 0, 6'000);
  for (test::event& e : events) {
    if (e.position % 3 == 2) e.key = events[e.position - 2].key;
    e.time = event_time(std::chrono::minutes(100 + e.position % 10));
    e.counters = {"all"};
  }
  std::jthread mover([&] { move_there_and_back(); });
  for (std::size_t at = 0; at < events.size(); at += 60) {
    ledger& by = at % 120 == 0 ? *by_module : *by_scripts;
    ledger& again = at % 180 == 0 ? *by_module : *by_scripts;
    for (ledger* each : {&by, &again}) {
      const auto got =
          test::claim_events(*each, filter->get_spec(), {"lane"}, std::span(events).subspan(at, 60));
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(got.result->fresh, 40U) << at;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  mover.join();
  EXPECT_EQ(test::counters_of(*by_module)["all"], 4'000);
}

}  // namespace
}  // namespace everseen::redis_module
