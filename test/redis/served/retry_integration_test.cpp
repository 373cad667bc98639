// A connection that is cut at every byte: the verdicts are those of an undisturbed run. In particular, no key
// is reported as seen because its own first attempt added it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/redis/stored.hpp"
#include "test/redis/wire/reply_text.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using test::redis_server;
using direction = cutting_proxy::direction;

constexpr direction both_ways[] = {direction::to_server, direction::to_client};

const char* name_of(direction w) {
  return w == direction::to_server ? "to the server" : "to the client";
}

/// New keys, and some that may have occurred before.
class stream {
 public:
  std::vector<digest> next(std::size_t fresh, std::size_t old) {
    std::vector<digest> keys = source_.take(fresh);
    for (std::size_t i = 0; i < old && !all_.empty(); ++i) keys.push_back(all_[source_.word() % all_.size()]);
    all_.insert(all_.end(), keys.begin(), keys.end());
    return keys;
  }

 private:
  random_digests source_{1};
  std::vector<digest> all_;
};

class retry {
 protected:
  explicit retry(std::vector<std::string> config = {}) : server_(std::move(config)) {}

  spec small(std::uint64_t capacity) const {
    return planned(*direct_, {.capacity = capacity, .error_rate = 0.05, .partitions = 1});
  }

  redis_server server_;
  cutting_proxy proxy_{server_.port()};
  std::shared_ptr<redis_store> direct_ = store_at(server_.url());
  std::shared_ptr<redis_store> cut_ = store_at(proxy_.url());
  memory_store memory_;
};

class Retry : public testing::Test, protected retry {};

/// Where the server judges.
class RetryJudged : public testing::Test, protected retry {
 protected:
  RetryJudged() : retry(test::with_module()) {}
};

/// With the module and without.
class RetryAnywhere : public testing::TestWithParam<bool>, protected retry {
 protected:
  RetryAnywhere() : retry(GetParam() ? test::with_module() : std::vector<std::string>{}) {}
};

INSTANTIATE_TEST_SUITE_P(Servers, RetryAnywhere, testing::Bool(),
                         [](const auto& one) { return one.param ? "WithModule" : "Plain"; });

// Promise: a batch that is cut at any byte gets its first answer (redis, Retries).
TEST_P(RetryAnywhere, BatchCutAtEveryByteGetsTheVerdictsOfAnUndisturbedOne) {
  const spec s = small(10'000);
  const auto filter = cut_->create("a", s);
  const auto model = memory_.create("a", s);
  stream keys;
  const auto step = [&](const std::string& where) {
    const auto batch = keys.next(2, 1);
    const auto got = add_keys(*filter, batch);
    ASSERT_TRUE(got.result) << where << ": " << got.result.error().message;
    EXPECT_EQ(got.verdicts, add_keys(*model, batch).verdicts) << where;
  };
  step("first");
  for (const direction w : both_ways) {
    std::size_t cuts = 0;
    for (bool cut = true; cut && !HasFailure(); ++cuts) {
      proxy_.cut_after(w, cuts);
      step("cut after " + std::to_string(cuts) + " bytes " + name_of(w));
      cut = proxy_.has_cut();
    }
    EXPECT_GT(cuts, w == direction::to_server ? 200u : 5u);
  }
  EXPECT_EQ(filter->state(0).keys(), model->state(0).keys());
}

TEST_P(RetryAnywhere, LookUpCutAnywhereIsAnswered) {
  const auto filter = cut_->create("a", small(1'000));
  stream keys;
  const auto batch = keys.next(3, 0);
  ASSERT_TRUE(add_keys(*filter, batch).result);
  for (const direction w : both_ways) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 11 : 1) {
      proxy_.cut_after(w, offset);
      EXPECT_EQ(tally_of(check_keys(*filter, batch)).seen, 3u) << offset << ' ' << name_of(w);
      cut = proxy_.has_cut();
    }
  }
}

TEST_P(RetryAnywhere, GrowthCutAnywhereGivesTheVerdictsAndLayersOfAnUndisturbedOne) {
  const spec s = small(4);
  stream keys;
  int filters = 0;
  for (const direction w : both_ways) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 23 : 3) {
      const std::string name = "g" + std::to_string(++filters);
      const auto model = memory_.create(name, s);
      (void)direct_->create(name, s);
      const auto filter = cut_->open(name, access::write);
      proxy_.cut_after(w, offset);
      const auto batch = keys.next(20, 3);
      const auto got = add_keys(*filter, batch);
      const std::string where = "cut after " + std::to_string(offset) + " bytes " + name_of(w);
      ASSERT_TRUE(got.result) << where << ": " << got.result.error().message;
      EXPECT_EQ(got.verdicts, add_keys(*model, batch).verdicts) << where;
      EXPECT_EQ(filter->state(0), model->state(0)) << where;
      EXPECT_GT(filter->state(0).slices.at(0).layers.size(), 1u);
      cut = proxy_.has_cut();
    }
  }
}

TEST_F(Retry, CreationCutAnywhereCreatesTheFilterAndNothingElse) {
  const spec s = small(100);
  int filters = 0;
  for (const direction w : both_ways) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 11 : 1) {
      const std::string name = "c" + std::to_string(++filters);
      proxy_.cut_after(w, offset);
      const std::string where = "cut after " + std::to_string(offset) + " bytes " + name_of(w);
      try {
        const auto filter = cut_->create(name, s);
        cut = proxy_.has_cut();
        EXPECT_EQ(tally_of(add_keys(*filter, random_digests(3).take(3))).fresh, 3u) << where;
      } catch (const error& e) {
        FAIL() << where << ": " << e.what();
      }
      const auto all = static_cast<std::size_t>(filters);
      EXPECT_EQ(keys_like(server_, "everseen:{*/0}").size(), all) << where;
      EXPECT_EQ(keys_like(server_, "everseen:{????????????????????????????????}").size(), all) << where;
      for (const std::string& key : {header_of(server_, name), state_of(server_, name)})
        EXPECT_EQ(server_.run({"PTTL", key}), "-1") << where;
    }
  }
  EXPECT_EQ(direct_->list().size(), static_cast<std::size_t>(filters));
}

/// A task for keys of a filter's only partition, driven by hand.
class by_hand {
 public:
  by_hand(const redis_server& server, const std::string& name, const spec& s, server_connections& connections,
          std::uint64_t seed)
      : filter_(identity_at(server, name, s)),
        keys_(random_digests(seed).take(4)),
        task_(packed_commands(filter_, connections.name(), answers_kept), partition_task::purpose::add,
              {0, keys_, {}, out_}) {}

  [[nodiscard]] partition_task& task() noexcept { return task_; }
  [[nodiscard]] const std::vector<verdict>& verdicts() const noexcept { return out_; }

 private:
  filter_identity filter_;
  std::vector<digest> keys_;
  std::vector<verdict> out_ = std::vector<verdict>(4);
  partition_task task_;
};

answer sent(server_connections& connections, const request& r) {
  return std::move(connections.exchange(std::span(&r, 1)).front());
}

// The server's clock jumps forward between two attempts, or the answer expired too early.
TEST_F(RetryJudged, BatchWhoseAnswerHasExpiredIsSeenAndNeverFreshTwice) {
  const auto filter = direct_->create("a", small(1'000));
  server_connections connections(parse_redis_url(server_.url()));
  by_hand one(server_, "a", filter->get_spec(), connections, 2);
  const request asked = one.task().next();
  ASSERT_EQ(sent(connections, asked)->back().text(), "0000");
  ASSERT_EQ(server_.run({"PEXPIRE", key_like(server_, state_of(server_, "a") + ":t:*"), "0"}), "1");
  one.task().take(sent(connections, asked));
  EXPECT_EQ(one.verdicts(), std::vector<verdict>(4, verdict::seen));
}

TEST_F(RetryJudged, LateCopyOfABatchDoesNotReplaceTheAnswerToALaterBatch) {
  const auto filter = direct_->create("a", small(1'000));
  server_connections connections(parse_redis_url(server_.url()));
  std::vector<request> judged;  // a copy of the request that judged each batch
  for (const std::uint64_t seed : {1, 2}) {
    by_hand batch(server_, "a", filter->get_spec(), connections, seed);
    while (!batch.task().done()) {
      const request asked = batch.task().next();
      const answer got = sent(connections, asked);
      if (got->back().text() == "0000") judged.push_back(asked);
      batch.task().take(got);
    }
  }
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_TRUE(sent(connections, judged[0])->back().is_error("OLD")) << "nothing waits for it any more";
  EXPECT_EQ(sent(connections, judged[1])->back().text(), "0000");
}

TEST_F(RetryJudged, RepliesThatTheModuleDoesNotGiveAreNotVerdicts) {
  const auto filter = direct_->create("a", small(1'000));
  server_connections connections(parse_redis_url(server_.url()));
  for (const std::string wire :
       {"$-1\r\n", "*0\r\n", ":5\r\n", "$0\r\n\r\n", "$4\r\n0004\r\n", "$3\r\n000\r\n", "$5\r\n00000\r\n",
        "+0000\r\n", "-OLD a later batch was answered\r\n",
        "-ERR unknown command 'EVERSEEN.ADDPACKED'\r\n"}) {
    by_hand batch(server_, "a", filter->get_spec(), connections, 1);
    std::vector<reply> replies;
    replies.push_back(reply_of(wire));
    batch.task().take(std::move(replies));
    EXPECT_TRUE(batch.task().failure()) << wire;
    EXPECT_EQ(batch.verdicts(), std::vector<verdict>(4, verdict::unknown)) << wire;
  }
}

/// Denies the module's commands to the user as soon as an attempt has failed.
class denying final : public retry_policy {
 public:
  explicit denying(const redis_server& server) : server_(server) {}
  bool tries_again(const outage&) override {
    server_.run({"ACL", "SETUSER", "default", "-everseen.addpacked"});
    return true;
  }
  void on_recovered() override {}

 private:
  const redis_server& server_;
};

TEST_F(RetryJudged, BatchThatMayHaveRunIsUnknownWhenItsCommandIsDenied) {
  (void)direct_->create("a", small(1'000));
  const auto filter = cut_->open("a", access::write);
  ASSERT_TRUE(add_keys(*filter, random_digests(1).take(2)).result);
  cut_->wait_with(std::make_shared<denying>(server_));
  proxy_.cut_after(direction::to_client, 0);
  const auto got = add_keys(*filter, random_digests(2).take(20));
  ASSERT_FALSE(got.result) << got.result->seen << " seen";
  EXPECT_THAT(got.result.error().message, testing::HasSubstr("NOPERM"));
  EXPECT_EQ(got.verdicts, std::vector<verdict>(20, verdict::unknown));
  server_.run({"ACL", "SETUSER", "default", "+@all"});
  EXPECT_EQ(tally_of(add_keys(*filter, random_digests(3).take(5))).fresh, 5u);
}

TEST(RetryThroughRestarts, VerdictsAreThoseOfAnUndisturbedRun) {
  redis_server::options o;
  o.config = test::with_module();
  o.config.insert(o.config.end(), {"--appendonly", "yes", "--appendfsync", "always"});
  redis_server server(o);
  const auto store = store_at(server.url());
  const spec s = planned(*store, {.capacity = 500, .error_rate = 0.01, .partitions = 2});
  const auto filter = store->create("a", s);
  memory_store memory;
  const auto model = memory.create("a", s);
  std::atomic<bool> done = false;
  std::jthread trouble([&] {
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      server.kill();
      server.start();
    }
    done = true;
  });
  stream keys;
  while (!done && !testing::Test::HasFailure()) {
    const auto batch = keys.next(20, 20);
    const auto got = add_keys(*filter, batch);
    ASSERT_TRUE(got.result) << got.result.error().message;
    EXPECT_EQ(got.verdicts, add_keys(*model, batch).verdicts);
  }
  for (std::uint32_t p = 0; p < s.partitions; ++p) EXPECT_EQ(filter->state(p), model->state(p));
}

}  // namespace
}  // namespace everseen::redis
