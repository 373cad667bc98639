// An answer of the module is lost: the same call, resent, gets the first answer. If the server lost the
// module meanwhile there is no answer, and no wrong one.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/memory/memory_store.hpp"

#include "test/module/module_server.hpp"
#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis_module {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using direction = cutting_proxy::direction;

constexpr double never_wrong = 1e-12;

/// Starts a server again without the module as soon as an attempt has failed.
class losing_the_module final : public retry_policy {
 public:
  explicit losing_the_module(redis_server& server) : server_(server) {}
  bool tries_again(const outage&) override {
    if (!std::exchange(lost_, true)) server_.restart_with({});
    return true;
  }
  void on_recovered() override {}

 private:
  redis_server& server_;
  bool lost_ = false;
};

class LostAnswer : public testing::Test {
 protected:
  std::shared_ptr<stored_filter> create(spec_request request) {
    request.seed = hash_seed{};
    request.error_rate = never_wrong;
    return store_->create("f", store_->plan(request));
  }

  redis_server server_{test::with_module()};
  cutting_proxy proxy_{server_.port()};
  std::shared_ptr<redis::redis_store> store_ = redis::store_at(server_.url());
  std::shared_ptr<redis::redis_store> cut_ = redis::store_at(proxy_.url());
  random_digests random_{7};
};

TEST_F(LostAnswer, IsGivenAgainToTheSameCall) {
  const spec s = create({.capacity = 100, .partitions = 1})->get_spec();
  memory_store memory;
  const auto model = memory.create("f", s);
  const auto keys = random_.take(3000);
  (void)add_keys(*model, keys);
  const auto filter = cut_->open("f", access::write);
  ASSERT_EQ(redis::outcome(check_keys(*filter, keys)), "3000 fresh");
  proxy_.cut_after(direction::to_client, 1);  // so that it was judged
  EXPECT_EQ(redis::outcome(add_keys(*filter, keys)), "3000 fresh");
  EXPECT_TRUE(proxy_.has_cut());
  EXPECT_GT(filter->state(0).slices[0].layers.size(), 3U) << "nothing grew, so nothing was tested";
  EXPECT_EQ(filter->state(0), model->state(0));
}

// Promise: where the module that judged a batch has gone, its keys are unknown (redis, Retries).
TEST_F(LostAnswer, IsUnknownWhereTheServerLostTheModule) {
  (void)create({.capacity = 1000, .partitions = 1});
  const auto filter = cut_->open("f", access::write);
  const auto first = random_.take(10), keys = random_.take(50);
  ASSERT_TRUE(add_keys(*filter, first).result);
  ASSERT_TRUE(check_keys(*filter, first).result);  // so that it knows the segment that this created
  cut_->wait_with(std::make_shared<losing_the_module>(server_));
  proxy_.cut_after(direction::to_client, 1);  // so that it was judged
  const auto got = add_keys(*filter, keys);
  ASSERT_FALSE(got.result) << redis::outcome(got);
  EXPECT_THAT(
      got.result.error().message,
      testing::HasSubstr("denies a command that it may have run before, so the keys may be in the filter"));
  EXPECT_THAT(got.result.error().message, testing::Not(testing::HasSubstr("args")));
  EXPECT_EQ(got.verdicts, std::vector(50, verdict::unknown));
  const auto again = store_->open("f", access::write);
  EXPECT_EQ(redis::outcome(check_keys(*again, first)), "10 seen");
  EXPECT_EQ(redis::outcome(add_keys(*again, keys)), "50 seen")
      << "they were added, and are never fresh twice";
}

// Promise: a batch that is cut at any byte gets its first answer (redis, Retries).
TEST_F(LostAnswer, OfABatchCutAnywhereIsThatOfAnUndisturbedOne) {
  const spec s = create({.capacity = 500, .window = window_spec{std::chrono::minutes(1), 3}, .partitions = 1})
                     ->get_spec();
  memory_store memory;
  const auto model = memory.create("f", s);
  int steps = 0;
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t at = 0; cut && !HasFailure(); at += w == direction::to_server ? 17 : 9) {
      const event_time when(std::chrono::seconds(3 * ++steps));
      const auto first = random_.take(1);
      auto keys = random_.take(40);
      keys.insert(keys.end(), first.begin(), first.end());
      const auto filter = cut_->open("f", access::write);
      (void)add_keys(*model, first, when);
      ASSERT_TRUE(add_keys(*filter, first, when).result);
      proxy_.cut_after(w, at);
      const auto got = add_keys(*filter, keys, when);
      EXPECT_EQ(got.verdicts, add_keys(*model, keys, when).verdicts) << "cut after " << at;
      EXPECT_EQ(filter->state(0), model->state(0));
      cut = proxy_.has_cut();
    }
  }
  EXPECT_GT(steps, 40) << "parts of a batch were never cut";
}

}  // namespace
}  // namespace everseen::redis_module
