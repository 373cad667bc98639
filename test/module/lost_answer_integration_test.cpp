// An answer of the module is lost, and when its batch is sent again the module has gone: what it judged is
// asked for, and not judged again.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/partition_task.hpp"
#include "everseen/store/memory_store.hpp"

#include "test/module/module_server.hpp"
#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis_module {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using way = cutting_proxy::direction;

constexpr double never_wrong = 1e-12;

/// Takes the module, and perhaps scripts, from a server as soon as an attempt has failed.
class unloading final : public patience {
 public:
  unloading(const redis_server& server, bool scripts_too) : server_(server), scripts_too_(scripts_too) {}
  bool tries_again(const outage&) override {
    server_.run({"MODULE", "UNLOAD", "everseen"});
    if (scripts_too_) server_.run({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
    return true;
  }
  void is_over() override {}

 private:
  const redis_server& server_;
  bool scripts_too_;
};

class LostAnswer : public testing::Test {
 protected:
  std::shared_ptr<stored_filter> create(spec_request request) {
    request.seed = hash_seed{};
    request.error_rate = never_wrong;
    return store_->create("f", store_->plan(request));
  }
  /// Opens it by a connection that can be cut, with some keys added, so that the module was found.
  std::shared_ptr<stored_filter> open_cut(std::span<const digest> first, bool scripts_too = false) {
    auto filter = cut_->open("f", access::write);
    EXPECT_TRUE(add_keys(*filter, first).result);
    EXPECT_EQ(filter->way(), "redis, module");
    filter->wait_with(std::make_shared<unloading>(server_, scripts_too));
    return filter;
  }
  void load_module() { ASSERT_EQ(server_.run({"MODULE", "LOAD", test::with_module().back()}), "OK"); }

  redis_server server_{joined({"--enable-module-command", "yes"}, test::with_module())};
  cutting_proxy proxy_{server_.port()};
  std::shared_ptr<redis::redis_store> store_ = redis::store_at(server_.url());
  std::shared_ptr<redis::redis_store> cut_ = redis::store_at(proxy_.url());
  random_digests random_{7};
};

TEST_F(LostAnswer, IsToldByScriptsWhereTheModuleHasGone) {
  (void)create({.capacity = 100'000, .partitions = 1});
  const auto filter = open_cut(random_.take(10));
  const auto keys = random_.take(5000);  // more than a script is asked about at once
  proxy_.cut_after(way::to_client, 0);
  EXPECT_EQ(redis::outcome(add_keys(*filter, keys)), "5000 fresh");
  EXPECT_EQ(redis::outcome(add_keys(*filter, keys)), "5000 seen");
  EXPECT_EQ(filter->way(), "redis, script");
  EXPECT_EQ(filter->state(0).keys(), 5010U);
}

TEST_F(LostAnswer, IsToldWhereTheModuleMadeTheFilterLonger) {
  const spec s = create({.capacity = 100, .partitions = 1})->get_spec();
  memory_store memory;
  const auto model = memory.create("f", s);
  const auto first = random_.take(10), keys = random_.take(3000);
  const auto filter = open_cut(first);
  (void)add_keys(*model, first);
  (void)add_keys(*model, keys);
  proxy_.cut_after(way::to_client, 0);
  EXPECT_EQ(redis::outcome(add_keys(*filter, keys)), "3000 fresh");
  EXPECT_GT(filter->state(0).slices[0].layers.size(), 3U) << "nothing grew, so nothing was tested";
  EXPECT_EQ(filter->state(0), model->state(0));
}

TEST_F(LostAnswer, WasThereNoneTheKeysAreJudgedByScripts) {
  (void)create({.capacity = 1000, .partitions = 1});
  const auto filter = open_cut(random_.take(10));
  const auto keys = random_.take(2000);
  proxy_.cut_after(way::to_server, 100);
  EXPECT_EQ(redis::outcome(add_keys(*filter, keys)), "2000 fresh");
  EXPECT_EQ(redis::outcome(check_keys(*filter, keys)), "2000 seen");
}

TEST_F(LostAnswer, IsUnknownWhereScriptsHaveGoneToo) {
  (void)create({.capacity = 1000, .partitions = 1});
  const auto filter = open_cut(random_.take(10), true);
  const auto keys = random_.take(50);
  proxy_.cut_after(way::to_client, 0);
  const auto got = add_keys(*filter, keys);
  ASSERT_FALSE(got.result) << redis::outcome(got);
  EXPECT_THAT(got.result.error().message, testing::HasSubstr("NOPERM"));
  EXPECT_EQ(got.verdicts, std::vector(50, verdict::unknown));
  EXPECT_EQ(redis::outcome(add_keys(*filter, random_.take(5))), "5 fresh") << "by what is left";
}

TEST_F(LostAnswer, OfABatchCutAnywhereIsThatOfAnUndisturbedOne) {
  const spec s = create({.capacity = 500, .window = window_spec{std::chrono::minutes(1), 3}, .partitions = 1})
                     ->get_spec();
  memory_store memory;
  const auto model = memory.create("f", s);
  int steps = 0;
  for (const way w : {way::to_server, way::to_client}) {
    bool cut = true;
    for (std::size_t at = 0; cut && !HasFailure(); at += w == way::to_server ? 17 : 9) {
      const event_time when(std::chrono::seconds(3 * ++steps));
      const auto first = random_.take(1);
      auto keys = random_.take(40);
      keys.insert(keys.end(), first.begin(), first.end());
      const auto filter = cut_->open("f", access::write);
      (void)add_keys(*model, first, when);
      ASSERT_TRUE(add_keys(*filter, first, when).result);
      filter->wait_with(std::make_shared<unloading>(server_, false));
      proxy_.cut_after(w, at);
      const auto got = add_keys(*filter, keys, when);
      EXPECT_EQ(got.verdicts, add_keys(*model, keys, when).verdicts) << "cut after " << at;
      EXPECT_EQ(filter->state(0), model->state(0));
      cut = proxy_.has_cut();
      if (server_.run({"MODULE", "LIST"}).empty()) load_module();
    }
  }
  EXPECT_GT(steps, 40) << "some of a batch was never cut";
}

TEST_F(LostAnswer, ThatIsAskedForKeepsALateCopyOfTheBatchFromBeingJudged) {
  const auto filter = create({.capacity = 1000, .partitions = 1});
  ASSERT_TRUE(add_keys(*filter, random_.take(1)).result);
  const redis::remote_filter f = redis::remote_filter_at(server_, "f", filter->get_spec());
  redis::session with(redis::parse_redis_url(server_.url()));
  const auto keys = random_.take(4);
  std::vector<verdict> out(keys.size());
  redis::partition_task task(f, redis::partition_task::purpose::add, {0, keys, {}, out}, nullptr,
                             redis::make_gear(redis::gear_kind::script, f, with.name()), nullptr, {},
                             redis::make_gear(redis::gear_kind::module, f, with.name()));
  const auto send = [&](const redis::request& r) {
    return std::move(with.exchange(std::span(&r, 1)).front());
  };
  task.take(send(task.next()));  // the state
  const redis::request late = task.next();
  ASSERT_THAT(late.wire, testing::HasSubstr("EVERSEEN.ADD"));
  task.take(tl::unexpected(redis::outage{"denied", true, true}));
  task.take(send(task.next()));  // a server that does not know the script yet
  task.take(send(task.next()));
  EXPECT_EQ(task.answered(), 0U);
  EXPECT_EQ(send(late)->back().text(), "") << "nobody waits for it any more";
  EXPECT_EQ(redis::outcome(check_keys(*filter, keys)), "4 fresh");
  while (!task.done()) task.take(send(task.next()));
  EXPECT_EQ(out, std::vector(4, verdict::fresh));
  EXPECT_EQ(send(late)->back().text(), "O");
}

}  // namespace
}  // namespace everseen::redis_module
