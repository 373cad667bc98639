// A server is killed twice while it writes its AOF: the effect on claims of the half block, which it runs
// after the restart. The server judges; journal/ has the same where clients do.

#include <functional>

#include <gtest/gtest.h>

#include "test/redis/stored.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {
namespace {

using test::claim_events;
using test::claimed;
using test::counters_of;
using test::event;
using test::text_of;
using test::torn_aof;
using counts = std::map<std::string, std::int64_t>;

class TornAof : public testing::Test {
 protected:
  TornAof() {
    spec_ = planned(*store_, {.capacity = 10'000, .error_rate = 1e-12, .partitions = 1});
    (void)store_->create("a", spec_);
  }

  /// Events of the keys k, l, ... in this order, each counted by all and by its key.
  static std::vector<event> events(std::uint64_t first, const std::vector<std::uint64_t>& keys) {
    std::vector<event> all;
    for (const std::uint64_t key : keys) {
      test::random_digests draw(key);
      all.push_back({first++, draw(), {}, {"all", "key" + std::to_string(key)}});
    }
    return all;
  }
  [[nodiscard]] opened_job open() const {
    return opened_job(store_at(server_.url())->open("a", access::write));
  }
  std::string claim(ledger& job, const std::string& lane, std::span<const event> events) const {
    const claimed got = claim_events(job, spec_, {lane, 0}, events);
    return got.result ? text_of(got.verdicts) : got.result.error().message;
  }
  /// The server is killed anywhere in the write of a claim; then `rest` follows, of a process that got no
  /// answer.
  void at_each_cut(const std::vector<event>& torn, const std::function<void(torn_aof&)>& rest) {
    torn_aof file(server_);
    const auto job = open();
    ASSERT_EQ(claim(*job, "one", before_), "000");
    ASSERT_EQ(claim(*job, "two", events(0, {4})), "0");
    const std::size_t from = file.bytes().size();
    ASSERT_EQ(claim(*job, "one", torn).size(), torn.size());
    const std::string all = file.bytes();
    const auto cuts = torn_aof::cuts(all, from);
    ASSERT_GE(cuts.size(), 2u);  // one command, whole or cut off
    for (const std::size_t cut : cuts) {
      SCOPED_TRACE("cut " + std::to_string(cut - from) + " bytes behind " + std::to_string(from) + " of " +
                   std::to_string(all.size()));
      file.end_with(all, cut);
      rest(file);
      if (HasFailure()) return;
    }
  }

  static std::vector<std::string> config() { return test::with_aof(test::with_module()); }

  test::redis_server server_{config()};
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  spec spec_;
  std::vector<event> before_ = events(0, {1, 2, 3});
  std::vector<event> torn_ = events(3, {5, 1, 6, 7, 5});
};

// Promise: after a torn AOF, a claim and its retry count once (streams, Crashes of servers and machines).
TEST_F(TornAof, ClaimRetriedBeforeTheSecondCrashCountsOnce) {
  at_each_cut(torn_, [&](torn_aof& file) {
    ASSERT_EQ(claim(*open(), "one", torn_), "01001");
    file.crash();
    const auto fresh = open();
    EXPECT_EQ(claim(*fresh, "one", torn_), "01001");
    EXPECT_EQ(claim(*fresh, "three", torn_), "11111");
    EXPECT_EQ(counters_of(*fresh), (counts{{"all", 7},
                                           {"key1", 1},
                                           {"key2", 1},
                                           {"key3", 1},
                                           {"key4", 1},
                                           {"key5", 1},
                                           {"key6", 1},
                                           {"key7", 1}}));
    EXPECT_EQ(store_at(server_.url())->open("a", access::read)->state(0).keys(), 7u);
  });
}

// Promise: after a torn AOF, a claim and its retry count once (streams, Crashes of servers and machines).
TEST_F(TornAof, KeyThatAnotherLaneClaimsBeforeTheRetryCountsOnce) {
  at_each_cut(torn_, [&](torn_aof& file) {
    const std::string other = claim(*open(), "two", events(1, {6, 8}));
    const std::string again = claim(*open(), "one", torn_);
    ASSERT_EQ(other + again, again == "01001" ? "1001001" : "0001101");
    file.crash();
    const auto fresh = open();
    EXPECT_EQ(claim(*fresh, "one", torn_), again);
    EXPECT_EQ(claim(*fresh, "two", events(1, {6, 8})), other);
    counts exact{{"all", 8}};
    for (int key = 1; key <= 8; ++key) exact["key" + std::to_string(key)] = 1;
    EXPECT_EQ(counters_of(*fresh), exact);
  });
}

// Promise: a claim that is retried only after the second crash is whole or not there (streams, Crashes of
// servers and machines).
TEST_F(TornAof, ClaimRetriedOnlyAfterTheSecondCrashIsCompleteOrAbsent) {
  at_each_cut(torn_, [&](torn_aof& file) {
    // Closes the open block, and has nothing to do with the job.
    server_.run({"EVAL", "redis.call('INCR', 'x') redis.call('INCR', 'x')", "0"});
    file.crash();
    const auto fresh = open();
    EXPECT_EQ(claim(*fresh, "one", torn_), "01001");
    EXPECT_EQ(claim(*fresh, "three", torn_), "11111");
    counts exact{{"all", 7}};
    for (int key = 1; key <= 7; ++key) exact["key" + std::to_string(key)] = 1;
    EXPECT_EQ(counters_of(*fresh), exact);
  });
}

}  // namespace
}  // namespace everseen::redis
