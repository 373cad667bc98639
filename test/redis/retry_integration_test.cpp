// A connection that is cut, at every byte: the verdicts are those of an undisturbed run. Above all no key is
// called seen because its own first attempt marked it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/redis/partition_task.hpp"
#include "everseen/store/memory_store.hpp"

#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using test::redis_server;
using way = cutting_proxy::direction;

constexpr way both_ways[] = {way::to_server, way::to_client};

const char* name_of(way w) {
  return w == way::to_server ? "to the server" : "to the client";
}

/// New keys, and some that may have been there before.
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

class Retry : public testing::Test {
 protected:
  spec small(std::uint64_t capacity) const {
    return planned(*direct_, {.capacity = capacity, .error_rate = 0.05, .partitions = 1});
  }

  redis_server server_;
  cutting_proxy proxy_{server_.port()};
  std::shared_ptr<redis_store> direct_ = store_at(server_.url());
  std::shared_ptr<redis_store> cut_ = store_at(proxy_.url());
  memory_store memory_;
};

TEST_F(Retry, BatchCutAtEveryByteGetsTheVerdictsOfAnUndisturbedOne) {
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
  for (const way w : both_ways) {
    std::size_t cuts = 0;
    for (bool cut = true; cut && !HasFailure(); ++cuts) {
      proxy_.cut_after(w, cuts);
      step("cut after " + std::to_string(cuts) + " bytes " + name_of(w));
      cut = proxy_.has_cut();
    }
    EXPECT_GT(cuts, w == way::to_server ? 200u : 5u);
  }
  EXPECT_EQ(filter->state(0).keys(), model->state(0).keys());
}

TEST_F(Retry, LookUpCutAnywhereIsAnswered) {
  const auto filter = cut_->create("a", small(1'000));
  stream keys;
  const auto batch = keys.next(3, 0);
  ASSERT_TRUE(add_keys(*filter, batch).result);
  for (const way w : both_ways) {
    bool cut = true;
    for (std::size_t at = 0; cut && !HasFailure(); at += w == way::to_server ? 11 : 1) {
      proxy_.cut_after(w, at);
      EXPECT_EQ(check_keys(*filter, batch).result->seen, 3u) << at << ' ' << name_of(w);
      cut = proxy_.has_cut();
    }
  }
}

TEST_F(Retry, GrowthCutAnywhereGivesTheVerdictsAndLayersOfAnUndisturbedOne) {
  const spec s = small(4);
  stream keys;
  int filters = 0;
  for (const way w : both_ways) {
    bool cut = true;
    for (std::size_t at = 0; cut && !HasFailure(); at += w == way::to_server ? 23 : 3) {
      const std::string name = "g" + std::to_string(++filters);
      const auto model = memory_.create(name, s);
      (void)direct_->create(name, s);
      const auto filter = cut_->open(name, access::write);
      proxy_.cut_after(w, at);
      const auto batch = keys.next(20, 3);
      const auto got = add_keys(*filter, batch);
      const std::string where = "cut after " + std::to_string(at) + " bytes " + name_of(w);
      ASSERT_TRUE(got.result) << where << ": " << got.result.error().message;
      EXPECT_EQ(got.verdicts, add_keys(*model, batch).verdicts) << where;
      EXPECT_EQ(filter->state(0), model->state(0)) << where;
      EXPECT_GT(filter->state(0).slices.at(0).layers.size(), 1u);
      cut = proxy_.has_cut();
    }
  }
}

TEST_F(Retry, CreationCutAnywhereMakesTheFilterAndNothingElse) {
  const spec s = small(100);
  int filters = 0;
  for (const way w : both_ways) {
    bool cut = true;
    for (std::size_t at = 0; cut && !HasFailure(); at += w == way::to_server ? 11 : 1) {
      const std::string name = "c" + std::to_string(++filters);
      proxy_.cut_after(w, at);
      const std::string where = "cut after " + std::to_string(at) + " bytes " + name_of(w);
      try {
        const auto filter = cut_->create(name, s);
        cut = proxy_.has_cut();
        EXPECT_EQ(add_keys(*filter, random_digests(3).take(3)).result->fresh, 3u) << where;
      } catch (const error& e) {
        FAIL() << where << ": " << e.what();
      }
      EXPECT_EQ(keys_like(server_, "everseen:{" + name + "/*}").size(), 1u) << where;
    }
  }
  EXPECT_EQ(direct_->list().size(), static_cast<std::size_t>(filters));
}

// By hand, since it takes a server that forgets its scripts between an attempt and the next.
TEST_F(Retry, BatchThatWasJudgedIsAnsweredAlikeByAServerThatLostItsScripts) {
  (void)direct_->create("a", small(1'000));
  const auto filter = direct_->open("a", access::write);
  ASSERT_TRUE(add_keys(*filter, random_digests(1).take(2)).result);  // so that it has the scripts, too

  const remote_filter f = remote_filter_at(server_, "a", filter->get_spec());
  const auto keys = random_digests(2).take(4);
  std::vector<verdict> out(keys.size());
  session with(parse_redis_url(server_.url()));
  partition_task task(f, partition_task::purpose::add, {0, keys, {}, out}, nullptr,
                      make_gear(gear_kind::script, f, with.name()), nullptr, {});
  bool lost = false;
  while (!task.done()) {
    const request asked = task.next();
    answer got = std::move(with.exchange(std::span(&asked, 1)).front());
    ASSERT_TRUE(got);
    if (!lost && got->back().text() == "0000") {
      lost = true;
      server_.run({"SCRIPT", "FLUSH"});
      got = std::move(with.exchange(std::span(&asked, 1)).front());
      ASSERT_TRUE(got->back().is_error("NOSCRIPT"));
    }
    task.take(got);
  }
  ASSERT_TRUE(lost);
  EXPECT_EQ(task.done_so_far(), (tally{.fresh = 4}));
}

TEST(RetryThroughRestarts, VerdictsAreThoseOfAnUndisturbedRun) {
  redis_server::options o;
  o.config = {"--appendonly", "yes", "--appendfsync", "always"};
  redis_server server(o);
  const auto store = store_at(server.url("?retry_for=30s"));
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
