#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/slot_map.hpp"

#include "test/redis/transport/talking.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::redis_cluster;
using ::testing::HasSubstr;

request to_key(const std::string& key, std::initializer_list<std::string_view> words,
               bool may_repeat = false) {
  return {{key, 0}, encode(words), 1, may_repeat};
}

std::vector<request> increments(std::size_t keys, bool may_repeat) {
  std::vector<request> requests;
  for (std::size_t i = 0; i < keys; ++i) {
    const std::string key = "n" + std::to_string(i);
    requests.push_back(to_key(key, {"INCR", key}, may_repeat));
  }
  return requests;
}

class Cluster : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<redis_cluster>(); }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override {
    for (std::size_t i = 0; i < 3; ++i) cluster().node(i).run({"FLUSHALL"});
  }
  static redis_cluster& cluster() { return *cluster_; }

 private:
  static inline std::unique_ptr<redis_cluster> cluster_{};
};

TEST_F(Cluster, KeysGoToTheOwnersOfTheirSlots) {
  server_connections s(parse_redis_url(cluster().url()));
  for (const auto& a : s.exchange(increments(300, false))) EXPECT_EQ(a.value()[0].integer(), 1);
  const auto all = s.exchange_with_all(encode({"DBSIZE"}));
  ASSERT_EQ(all.size(), 3U);
  std::int64_t sum = 0;
  for (const auto& a : all) {
    EXPECT_GT(a.value()[0].integer(), 50);
    sum += a.value()[0].integer();
  }
  EXPECT_EQ(sum, 300);
  EXPECT_EQ(s.server_of({"n1", 0}).port, cluster().owner(slot_of("n1")).port());
}

TEST_F(Cluster, IsFoundFromOneServerAlone) {
  server_connections s(parse_redis_url("redis+cluster://" + cluster().node(1).address()));
  for (const auto& a : s.exchange(increments(30, false))) EXPECT_TRUE(a);
}

TEST_F(Cluster, IsFoundWhenSomeServersOfTheUrlAreDown) {
  server_connections s(parse_redis_url("redis+cluster://127.0.0.1:" + std::to_string(test::free_port()) +
                                       "," + cluster().node(1).address()));
  EXPECT_TRUE(exchange_one(s, to_key("k", {"GET", "k"})));
}

TEST_F(Cluster, ReportsThatThereIsNone) {
  server_connections s(
      parse_redis_url("redis+cluster://127.0.0.1:" + std::to_string(test::free_port()) + "?retry_for=100ms"));
  EXPECT_THAT(outage_of(s, to_key("k", {"GET", "k"})).message, HasSubstr("refused"));
  const auto all = s.exchange_with_all(encode({"PING"}));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0]);
}

TEST_F(Cluster, SingleServerIsReportedAsNotACluster) {
  const test::redis_server alone;
  server_connections s(parse_redis_url("redis+cluster://" + alone.address()));
  EXPECT_THAT(outage_of(s, to_key("k", {"GET", "k"})).message, HasSubstr("no cluster"));
}

TEST_F(Cluster, UrlOfASingleServerReportsACluster) {
  server_connections s(parse_redis_url(cluster().node(0).url()));
  const outage o = outage_of(s, to_key("foo", {"GET", "foo"}));  // slot 12182, of the third
  EXPECT_THAT(o.message, HasSubstr("redis+cluster://"));
  EXPECT_FALSE(o.may_have_run);
}

TEST_F(Cluster, FollowsAMovedSlot) {
  server_connections s(parse_redis_url(cluster().url()));
  const unsigned slot = slot_of("{a}");
  const std::size_t from = slot * 3 / 16384, target = (from + 1) % 3;
  ASSERT_TRUE(exchange_one(s, to_key("{a}", {"SET", "{a}", "1"})));
  cluster().begin_to_move(slot, from, target);
  cluster().move_keys(slot, from, target);
  cluster().finish_to_move(slot, target);
  EXPECT_EQ(exchange_one(s, to_key("{a}", {"INCR", "{a}"})).value()[0].integer(), 2);
  EXPECT_EQ(s.server_of({"{a}", 0}).port, cluster().node(target).port());
  cluster().begin_to_move(slot, target, from);
  cluster().move_keys(slot, target, from);
  cluster().finish_to_move(slot, from);
  EXPECT_EQ(exchange_one(s, to_key("{a}", {"INCR", "{a}"})).value()[0].integer(), 3);
}

TEST_F(Cluster, AsksTheImportingServerDuringAMigration) {
  server_connections s(parse_redis_url(cluster().url()));
  const unsigned slot = slot_of("{b}");
  const std::size_t from = slot * 3 / 16384, target = (from + 1) % 3;
  ASSERT_TRUE(exchange_one(s, to_key("{b}here", {"SET", "{b}here", "1"})));
  cluster().begin_to_move(slot, from, target);
  const request both{{"{b}", 0}, encode({"INCR", "{b}here"}) + encode({"INCR", "{b}there"}), 2, false};
  const auto replies = exchange_one(s, both).value();
  EXPECT_EQ(replies[0].integer(), 2) << "run once, by the server that still has it";
  EXPECT_EQ(replies[1].integer(), 1);
  EXPECT_EQ(s.server_of({"{b}", 0}).port, cluster().node(from).port()) << "ASK moves nothing";
  EXPECT_EQ(exchange_one(s, to_key("{b}", {"INCR", "{b}there"})).value()[0].integer(), 2);
  std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    cluster().move_keys(slot, from, target);
  });
  const request split =
      to_key("{b}", {"MGET", "{b}here", "{b}there"});  // TRYAGAIN until both are on one server
  EXPECT_EQ(exchange_one(s, split).value()[0][0].text(), "2");
  later.join();
  cluster().finish_to_move(slot, target);
  cluster().begin_to_move(slot, target, from);
  cluster().move_keys(slot, target, from);
  cluster().finish_to_move(slot, from);
}

TEST(ClusterWithReplicas, FailsOverWhileExchanging) {
  redis_cluster cluster(redis_cluster::replicas::one_each);
  server_connections s(parse_redis_url(cluster.url("?retry_for=60s")));
  std::size_t rounds = 0;
  bool killed = false;
  const auto begin = std::chrono::steady_clock::now();
  for (; std::chrono::steady_clock::now() - begin < 4s; ++rounds) {
    if (!killed && rounds == 5) {
      cluster.misses_after(1s);
      cluster.node(0).kill();
      killed = true;
    }
    for (const auto& a : s.exchange(increments(60, true))) ASSERT_TRUE(a) << a.error().message;
  }
  EXPECT_GT(rounds, 5U);
  EXPECT_EQ(s.exchange_with_all(encode({"PING"})).size(), 3U);
}

TEST(ClusterWithReplicas, LostMasterWithoutASuccessorIsReportedAndTheOthersAnswer) {
  redis_cluster cluster(redis_cluster::replicas::none, {"--cluster-require-full-coverage", "no"});
  server_connections s(parse_redis_url(cluster.url("?retry_for=300ms")));
  for (const auto& a : s.exchange(increments(60, true))) ASSERT_TRUE(a) << a.error().message;
  cluster.node(0).kill();
  const auto requests = increments(60, true);
  const auto answers = s.exchange(requests);
  for (std::size_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(answers[i].has_value(), slot_of(requests[i].destination.key) * 3 / 16384 != 0) << i;
}

TEST(ClusterWithReplicas, ClusterDownIsRetried) {
  redis_cluster cluster(redis_cluster::replicas::none);
  server_connections s(parse_redis_url(cluster.url("?retry_for=60s")));
  for (const auto& a : s.exchange(increments(60, false))) ASSERT_TRUE(a);
  cluster.misses_after(1s);
  cluster.node(0).kill();
  test::wait_until(
      [&] {
        return cluster.node(1).run({"CLUSTER", "INFO"}).find("cluster_state:fail") != std::string::npos;
      },
      "the cluster is down");
  std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    cluster.node(0).start();
  });
  for (const auto& a : s.exchange(increments(60, false))) EXPECT_TRUE(a) << a.error().message;
  later.join();
}

}  // namespace
}  // namespace everseen::redis
