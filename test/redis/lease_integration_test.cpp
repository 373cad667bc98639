// Bulk loading: who holds a partition is the only one who adds to it, for as long as the lease lasts and not
// longer.

#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/lease.hpp"
#include "everseen/redis/leased_partition.hpp"
#include "everseen/redis/merge_gear.hpp"

#include "test/redis/stored.hpp"
#include "test/support/child_process.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::child_process;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Lease : public testing::Test {
 protected:
  std::shared_ptr<stored_filter> open(const std::string& options) const {
    return store_at(server_.url(options))->open("f", access::write);
  }
  std::string state_key() const {
    return "everseen:{f/" + server_.run({"HGET", "everseen:f", "generation"}) + "/0}";
  }
  /// As if so much time had passed that it has ended.
  void let_the_lease_end() const {
    const std::string lease = server_.run({"HGET", state_key(), "lease"});
    ASSERT_EQ(lease.find(':'), 32U) << "nobody holds it";
    server_.run({"HSET", state_key(), "lease", lease.substr(0, 33) + "1"});
  }

  redis_server server_;
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  std::shared_ptr<stored_filter> script_ =
      store_->create("f", planned(*store_, {.capacity = 200, .error_rate = 1e-6, .partitions = 1}));
  random_digests random_{1};
};

TEST_F(Lease, RefusesWhatOthersWantToAddAndLetsThemLook) {
  const auto keys = random_.take(100);
  const auto bulk = open("?gear=merge");
  ASSERT_EQ(outcome(add_keys(*bulk, keys)), "100 fresh");
  for (const std::string gear : {"script", "bitfield", "merge"}) {
    const auto other = open("?retry_for=100ms&gear=" + gear);
    const auto failure = failure_of_add(*other, random_.take(3));
    ASSERT_TRUE(failure) << gear;
    EXPECT_THAT(failure->message, AllOf(HasSubstr(state_key()), HasSubstr("held"), HasSubstr(" ms"))) << gear;
    EXPECT_EQ(outcome(check_keys(*other, keys)), "100 seen") << gear;
  }
  EXPECT_EQ(outcome(add_keys(*bulk, random_.take(300))), "300 fresh") << "grows meanwhile";
}

TEST_F(Lease, OthersWaitForIt) {
  for (const std::string gear : {"script", "bitfield", "merge"}) {
    auto bulk = open("?gear=merge");
    ASSERT_EQ(outcome(add_keys(*bulk, random_.take(10))), "10 fresh");
    std::jthread later([&] {
      std::this_thread::sleep_for(200ms);
      bulk.reset();
    });
    EXPECT_EQ(outcome(add_keys(*open("?gear=" + gear), random_.take(10))), "10 fresh") << gear;
  }
}

TEST_F(Lease, OwnerWhoseLeaseHasEndedSeesWhatOthersAddedSince) {
  const auto bulk = open("?gear=merge");
  const auto first = random_.take(10);
  const auto second = random_.take(10);
  ASSERT_EQ(outcome(add_keys(*bulk, first)), "10 fresh");
  let_the_lease_end();
  ASSERT_EQ(outcome(add_keys(*script_, second)), "10 fresh");
  EXPECT_EQ(outcome(add_keys(*bulk, second)), "10 seen");
  EXPECT_EQ(outcome(add_keys(*bulk, first)), "10 seen");
  EXPECT_EQ(bulk->state(0).keys(), 20U);
}

// By hand, since it takes an end of the lease between an owner's judgement and its writes.
TEST_F(Lease, OwnerWhoseLeaseHasEndedWritesNothing) {
  const remote_filter f = remote_filter_at(server_, "f", script_->get_spec());
  ASSERT_EQ(outcome(add_keys(*script_, random_.take(5))), "5 fresh");
  session with(parse_redis_url(server_.url()));
  const auto bulk = open("?gear=merge");
  ASSERT_EQ(outcome(add_keys(*bulk, random_.take(5))), "5 fresh");
  const std::string owner = server_.run({"HGET", state_key(), "lease"}).substr(0, 32);
  const auto state = [&] {
    return decode_state(f, 0, ask_about(with, {state_key(), 0}, {"HGETALL", state_key()}));
  };

  local_segments place(1);
  leased_partition held(f, owner, place, state());
  held.take_pages(with.exchange(held.reads()));
  const auto keys = random_.take(500);
  std::vector<verdict> out(keys.size());
  ASSERT_TRUE(held.add({0, keys, {}, out}));
  std::vector<request> writes = held.writes();
  writes.push_back(held.settle());
  ASSERT_GT(writes.size(), 2U) << "the filter grows, too";

  let_the_lease_end();
  const std::string before = server_.run({"GET", state_key() + ":0.0"});
  const auto state_before = script_->state(0);
  for (const answer& a : with.exchange(writes)) EXPECT_EQ(a.value().back().text(), "X");
  EXPECT_EQ(server_.run({"GET", state_key() + ":0.0"}), before);
  EXPECT_EQ(script_->state(0), state_before);
  EXPECT_EQ(outcome(add_keys(*script_, keys)), "500 fresh");
}

TEST_F(Lease, NewOwnerEndsTheWritesOfTheOneBefore) {
  const auto first = open("?gear=merge");
  ASSERT_EQ(outcome(add_keys(*first, random_.take(5))), "5 fresh");
  let_the_lease_end();
  const auto second = open("?gear=merge");
  const auto keys = random_.take(5);
  ASSERT_EQ(outcome(add_keys(*second, keys)), "5 fresh");
  EXPECT_FALSE(add_keys(*open("?gear=merge&retry_for=50ms"), keys).result);
  const auto got = add_keys(*first, keys);  // waits until the second's lease has ended
  EXPECT_EQ(outcome(got), "5 seen");
}

TEST_F(Lease, OwnerNoticesThatTheFilterWasEmptied) {
  const auto keys = random_.take(300);
  const auto bulk = open("?gear=merge");
  ASSERT_EQ(outcome(add_keys(*bulk, keys)), "300 fresh");
  store_->reset("f");
  EXPECT_EQ(outcome(add_keys(*bulk, keys)), "300 fresh");
  EXPECT_EQ(outcome(check_keys(*script_, keys)), "300 seen");
}

TEST_F(Lease, SegmentsOfAnExpiringFilterEndWithIt) {
  const auto expiring = store_->create_expiring("g", script_->get_spec(), 1h);
  const auto bulk = store_at(server_.url("?gear=merge"))->open("g", access::write);
  ASSERT_EQ(outcome(add_keys(*bulk, random_.take(1'000))), "1000 fresh");
  const auto keys = keys_like(server_, "everseen:{g/*");
  EXPECT_GT(keys.size(), 4U);
  for (const std::string& key : keys)
    EXPECT_EQ(server_.run({"PEXPIRETIME", key}),
              std::to_string(expiring->ends_at()->time_since_epoch().count()))
        << key;
}

TEST_F(Lease, KilledOwnerLosesNothingAcknowledgedAndKeepsNobodyOutForLong) {
  constexpr int batches = 5;
  constexpr std::size_t keys_a_batch = 100;
  const auto keys = random_.take(batches * keys_a_batch);
  child_process owner([&](const auto& tell) {
    const auto bulk = open("?gear=merge");
    for (int i = 0;; ++i) {
      const auto some =
          std::span(keys).subspan(static_cast<std::size_t>(i % batches) * keys_a_batch, keys_a_batch);
      if (!add_keys(*bulk, some).result) return;
      tell(i);
    }
  });
  for (int told = 0; told < batches;) told = owner.next().value_or(batches) + 1;
  owner.kill();
  EXPECT_EQ(outcome(check_keys(*script_, keys)), "500 seen");
  const auto begin = std::chrono::steady_clock::now();
  const auto other = open("?retry_for=30s");
  EXPECT_EQ(outcome(add_keys(*other, random_.take(10))), "10 fresh");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, lease_life + 2s);
  EXPECT_EQ(other->state(0).keys(), 510U);
}

TEST(Bulk, LoadersAndOthersGiveEachKeyOneFresh) {
  const redis_server server;
  const auto store = store_at(server.url());
  (void)store->create("f", planned(*store, {.capacity = 500, .error_rate = 1e-9, .partitions = 3}));
  const auto keys = random_digests(9).take(6'000);
  std::vector<std::atomic<int>> fresh(keys.size());
  std::atomic<std::size_t> unknown = 0;
  {
    std::vector<std::jthread> clients;
    for (const std::string gear : {"merge", "script", "merge", "bitfield"})
      clients.emplace_back([&, gear] {
        for (std::size_t from = 0; from < keys.size(); from += 1'000) {
          const auto f = store_at(server.url("?retry_for=60s&gear=" + gear))->open("f", access::write);
          const auto got = add_keys(*f, std::span(keys).subspan(from, 1'000));
          if (!got.result) ADD_FAILURE() << gear << ": " << got.result.error().message;
          for (std::size_t i = 0; i < got.verdicts.size(); ++i) {
            fresh[from + i] += got.verdicts[i] == verdict::fresh;
            unknown += got.verdicts[i] == verdict::unknown;
          }
        }
      });
  }
  EXPECT_EQ(unknown, 0U);
  EXPECT_EQ(std::ranges::count_if(fresh, [](const auto& f) { return f != 1; }), 0);
}

}  // namespace
}  // namespace everseen::redis
