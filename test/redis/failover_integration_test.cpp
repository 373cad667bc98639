// The keys that a filter forgets when a master fails before its replica has received everything; with wait=1
// there are none.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/slot_map.hpp"

#include "test/redis/failing_over.hpp"
#include "test/redis/stored.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_cluster;
using ::testing::HasSubstr;

/// A filter on a cluster whose first master will be killed.
class Failover : public testing::Test {
 protected:
  static constexpr std::uint32_t partitions = 24;

  filter_keys create() {
    const auto store = store_at(cluster_.url());
    const spec s = planned(*store, {.capacity = 20'000, .error_rate = 1e-12, .partitions = partitions});
    (void)store->create("clicks", s);
    return identity_at(cluster_.owner(slot_of("everseen:{names}")), "clicks", s).keys;
  }

  std::shared_ptr<stored_filter> opened(const std::string& options = "") {
    return store_at(cluster_.url(options))->open("clicks", access::write);
  }

  /// Whether a key is on the master that will be killed.
  bool is_endangered(const digest& key) {
    const std::string state = keys_.state(partition_of(key, partitions));
    return slot_of(state) * redis_cluster::masters / redis_cluster::slots == 0;
  }

  redis_cluster cluster_{redis_cluster::replicas::one_each, test::with_module()};
  const filter_keys keys_ = create();
  random_digests source_{1};
};

// Promise: a failover forgets exactly what was not replicated (redis, Replicas).
TEST_F(Failover, ForgetsExactlyTheUnreplicatedKeys) {
  const auto filter = opened("");
  const auto replicated = source_.take(2'000);
  ASSERT_EQ(outcome(add_keys(*filter, replicated)), "2000 fresh");
  cut_replication(cluster_);
  const auto late = source_.take(2'000);
  ASSERT_EQ(outcome(add_keys(*filter, late)), "2000 fresh") << "acknowledged";
  fail_over(cluster_);
  EXPECT_EQ(outcome(check_keys(*filter, replicated)), "2000 seen");
  const auto after = check_keys(*filter, late);
  ASSERT_TRUE(after.result) << after.result.error().message;
  std::size_t forgotten = 0;
  for (std::size_t i = 0; i < late.size(); ++i) {
    EXPECT_EQ(after.verdicts[i], is_endangered(late[i]) ? verdict::fresh : verdict::seen) << i;
    forgotten += after.verdicts[i] == verdict::fresh;
  }
  EXPECT_GT(forgotten, 100u);
  EXPECT_LT(forgotten, 1'900u);
  EXPECT_EQ(tally_of(add_keys(*filter, late)).fresh, forgotten) << "it continues";
  EXPECT_EQ(outcome(check_keys(*filter, late)), "2000 seen");
}

// Promise: with wait=1 and one replica a failover forgets nothing acknowledged (redis, Replicas).
TEST_F(Failover, ForgetsNothingAcknowledgedWhereBatchesWaitForTheReplica) {
  const auto filter = opened("?wait=1&timeout=10s&retry_for=100ms");
  const auto replicated = source_.take(500);
  ASSERT_EQ(outcome(add_keys(*filter, replicated)), "500 fresh");
  cut_replication(cluster_);
  const auto late = source_.take(500);
  const auto got = add_keys(*filter, late);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("only 0 of the 1 replicas"));
  std::vector<digest> acknowledged = replicated;
  for (std::size_t i = 0; i < late.size(); ++i) {
    EXPECT_EQ(got.verdicts[i], is_endangered(late[i]) ? verdict::unknown : verdict::fresh) << i;
    if (got.verdicts[i] == verdict::fresh) acknowledged.push_back(late[i]);
  }
  fail_over(cluster_);
  EXPECT_EQ(tally_of(check_keys(*filter, acknowledged)).seen, acknowledged.size());
}

// Promise: adding continues through a failover (redis, Clusters).
TEST_F(Failover, AddingClientsRetryThroughIt) {
  const auto filter = opened();
  wait_for_replica(cluster_);  // or it might not know the filter
  for (int batch = 0; batch < 6; ++batch) {
    if (batch == 2) {
      cluster_.misses_after(std::chrono::seconds(1));
      cluster_.node(0).kill();
    }
    ASSERT_EQ(outcome(add_keys(*filter, source_.take(500))), "500 fresh") << batch;
  }
}

}  // namespace
}  // namespace everseen::redis
