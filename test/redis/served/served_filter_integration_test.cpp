// Filters that their servers judge: servers that cannot, clients beside each other, calls that come late.
// That they judge as core/partition does is in model_property_test.cpp.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/wire/slot_map.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/redis/stored.hpp"
#include "test/redis/transport/talking.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

spec growing(const store& in, std::uint64_t capacity) {
  return planned(in, {.capacity = capacity, .error_rate = 1e-6, .partitions = 1});
}

// Promise: servers without the module are not asked to judge; the error names three ways out (redis, Who
// judges).
TEST(ServerWithoutTheModule, IsNotAskedToJudge) {
  const redis_server server;
  const auto store = store_at(server.url());
  const spec s = planned(*store, {.capacity = 50, .judge = judge_kind::server});
  EXPECT_THAT(message_of<parameter_error>([&] { (void)store->create("f", s); }),
              AllOf(HasSubstr("--judge client"), HasSubstr("load the module"), HasSubstr("everseen serve")));
  EXPECT_EQ(server.run({"DBSIZE"}), "0") << "nothing is started that cannot be used";
}

TEST(ServerWithoutTheModule, LetsClientsJudgeWhereNobodyHasDecided) {
  const redis_server plain, with(test::with_module());
  EXPECT_EQ(store_at(plain.url())->plan({.capacity = 50}).judge, judge_kind::client);
  EXPECT_EQ(store_at(with.url())->plan({.capacity = 50}).judge, judge_kind::server);
  const auto both = store_at("redis://" + plain.address() + "," + with.address());
  EXPECT_EQ(both->plan({.capacity = 50}).judge, judge_kind::client);
}

// Promise: a server that lost the module does not load the filters that it judged (redis, Who judges).
TEST(ServerThatLostTheModule, DoesNotLoadItsFilters) {
  redis_server server(test::with_module());
  const auto store = store_at(server.url());
  ASSERT_TRUE(add_keys(*store->create("f", growing(*store, 50)), random_digests(1).take(5)).result);
  EXPECT_THAT(message_of<std::runtime_error>([&] { server.restart_with({}); }), HasSubstr("everseen1"));
}

// Promise: where the module that judged a batch has gone, keys are unknown (redis, Who judges).
TEST(ServerThatLostTheModule, LeavesKeysUnknown) {
  redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 50));
  ASSERT_TRUE(add_keys(*filter, random_digests(1).take(5)).result);
  server.run({"FLUSHALL"});  // with its data, it would not start
  server.restart_with({});
  for (const auto& got :
       {add_keys(*filter, random_digests(2).take(5)), check_keys(*filter, random_digests(1).take(5))}) {
    ASSERT_FALSE(got.result);
    EXPECT_EQ(got.verdicts, std::vector<verdict>(5, verdict::unknown));
  }
}

TEST(ServerWithoutTheModule, LetsClientsJudgeAFilterThatIsRestored) {
  const redis_server server;
  const auto store = store_at(server.url());
  spec s = planned(*store, {.capacity = 50, .partitions = 1});
  s.judge = judge_kind::server;
  memory_store memory;
  const auto here = memory.create("f", s);
  const auto keys = random_digests(3).take(30);
  ASSERT_TRUE(add_keys(*here, keys).result);
  const auto restored = store->begin_restore("f", s);
  here->visit_segments(0, [&](const segment_id& id, const layer_state& layer, auto bits) {
    std::ranges::copy(bits, restored->add_segment(id, layer).begin());
  });
  restored->commit();
  const auto there = store->open("f", access::write);
  EXPECT_EQ(there->get_spec().judge, judge_kind::client);
  EXPECT_EQ(outcome(check_keys(*there, keys)), "30 seen");
  const auto more = random_digests(4).take(30);
  EXPECT_EQ(outcome(add_keys(*there, more)), "30 fresh");
  EXPECT_EQ(outcome(check_keys(*store_at(server.url())->open("f", access::read), more)), "30 seen");
}

TEST(ServerWithoutScripts, JudgesAFilterThatExists) {
  const redis_server server(test::with_module());
  (void)store_at(server.url())->create("f", growing(*store_at(server.url()), 50));
  server.run({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
  const auto store = store_at(server.url());
  const auto filter = store->open("f", access::write);
  const auto keys = random_digests(3).take(200);
  EXPECT_EQ(outcome(add_keys(*filter, keys)), "200 fresh");
  EXPECT_EQ(outcome(add_keys(*filter, keys)), "200 seen");
  EXPECT_EQ(outcome(check_keys(*filter, keys)), "200 seen");
  EXPECT_GT(filter->state(0).slices.at(0).layers.size(), 1U);
  EXPECT_THROW((void)store->create("f", growing(*store, 50)), name_taken);
}

TEST(ServerWithoutScripts, WithTheModuleGetsNoFilterAndLosesNone) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const spec s = growing(*store, 50);
  const auto filter = store->create("f", s);
  server.run({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
  const std::string all = server.run({"KEYS", "*"});
  const auto told = AllOf(HasSubstr("forbids scripts"), HasSubstr("EVALSHA"), Not(HasSubstr("load the")));
  EXPECT_THAT(message_of<backend_error>([&] { (void)store->create("g", s); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { store->drop("f"); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { store->rename("f", "g", store::namesake::refuse); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { store->expire_at("f", event_time::max()); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { (void)store->begin_rebuild("f", s, {}); }), told);
  EXPECT_EQ(server.run({"KEYS", "*"}), all) << "nothing is started that cannot be finished";
  EXPECT_EQ(outcome(add_keys(*filter, random_digests(3).take(5))), "5 fresh");
}

TEST(ServersThatJudge, GiveFreshOnceForEachKeyOfManyClients) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  (void)store->create("f", growing(*store, 500));
  const auto keys = random_digests(9).take(20'000);
  std::vector<std::atomic<int>> fresh(keys.size());
  std::atomic<std::size_t> unknown = 0;
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < 6; ++c)
      clients.emplace_back([&] {
        const auto f = store_at(server.url())->open("f", access::write);
        for (std::size_t from = 0; from < keys.size(); from += 500) {
          const auto got = add_keys(*f, std::span(keys).subspan(from, 500));
          for (std::size_t i = 0; i < got.verdicts.size(); ++i) {
            fresh[from + i] += got.verdicts[i] == verdict::fresh;
            unknown += got.verdicts[i] == verdict::unknown;
          }
        }
      });
  }
  EXPECT_EQ(unknown, 0U);
  EXPECT_EQ(std::ranges::count_if(fresh, [](const auto& f) { return f > 1; }), 0);
  EXPECT_LE(std::ranges::count_if(fresh, [](const auto& f) { return f == 0; }), 2) << "false positives";
}

/// Keys of a filter's only partition, whose calls are sent by hand.
class late_client {
 public:
  late_client(const std::string& url, filter_identity f, std::span<const digest> keys)
      : filter_(std::move(f)),
        verdicts_(keys.size()),
        connections_(parse_redis_url(url)),
        task_(packed_commands(filter_, connections_.name(), answers_kept), partition_task::purpose::add,
              {0, keys, {}, verdicts_}) {}

  void call() { task_.take(exchange_one(connections_, task_.next())); }
  void finish() {
    while (!task_.done()) call();
  }
  [[nodiscard]] const std::vector<verdict>& verdicts() const { return verdicts_; }
  [[nodiscard]] const std::optional<batch_failure>& failure() const { return task_.failure(); }

 private:
  filter_identity filter_;
  std::vector<verdict> verdicts_;
  server_connections connections_;
  partition_task task_;
};

// MIGRATE moves keys one by one: for a while the value is on one server and the client's token on the other.
// Promise: a call about a filter that was dropped, or whose slot moves, changes nothing or all (redis, What
// holds for all filters on Redis).
TEST(ServersThatJudge, JudgeABatchOnceWhileItsSlotMoves) {
  test::redis_cluster cluster(test::redis_cluster::replicas::none, test::with_module());
  const auto store = store_at(cluster.url());
  const auto other = store->create("f", growing(*store, 100));
  random_digests random(4);
  ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");

  const auto f = identity_at(cluster.owner(slot_of("everseen:{names}")), "f", other->get_spec());
  const std::string state = f.keys.state(0);
  const unsigned slot = slot_of(state);
  const std::size_t from = slot * 3 / 16384, target = (from + 1) % 3;
  const auto keys = random.take(10);
  late_client client(cluster.url(), f, keys);

  cluster.begin_to_move(slot, from, target);
  cluster.node(from).run(
      {"MIGRATE", "127.0.0.1", std::to_string(cluster.node(target).port()), state, "0", "5000"});
  std::jthread calling([&] { client.finish(); });
  test::wait_until(
      [&] {
        return cluster.node(target).run({"INFO", "errorstats"}).find("TRYAGAIN") != std::string::npos;
      },
      "a call finds its keys on two servers");
  cluster.move_keys(slot, from, target);
  cluster.finish_to_move(slot, target);
  calling.join();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::fresh));
  EXPECT_EQ(outcome(check_keys(*other, keys)), "10 seen");
  EXPECT_EQ(other->state(0).keys(), 70U);
}

// Promise: a call about a filter that was dropped, or whose slot moves, changes nothing or all (redis, What
// holds for all filters on Redis).
TEST(ServersThatJudge, LeaveNothingOfAFilterThatWasDroppedMeanwhile) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const auto other = store->create("f", growing(*store, 100'000));
  const auto keys = random_digests(4).take(packed_keys_a_call + 10);
  late_client client(server.url(), identity_at(server, "f", other->get_spec()), keys);
  client.call();
  EXPECT_THAT(std::span(client.verdicts()).first(packed_keys_a_call), Each(verdict::fresh));
  store->drop("f");
  const auto answers = keys_like(server, "*");
  EXPECT_THAT(lasting_keys_like(server, "*"), IsEmpty());
  client.finish();
  EXPECT_THAT(std::span(client.verdicts()).last(10), Each(verdict::unknown));
  EXPECT_TRUE(client.failure());
  EXPECT_EQ(keys_like(server, "*"), answers);
}

TEST(ServersThatJudge, GiveKnownKeysNoRoomOfOthersWhereTheFilterRefuses) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const auto filter = store->create(
      "f", planned(*store,
                   {.capacity = 2000, .error_rate = 1e-6, .growth = growth_kind::refuse, .partitions = 1}));
  random_digests random(4);
  const auto keys = random.take(900);
  for (const char* expected : {"900 fresh", "900 seen", "900 seen"}) {
    EXPECT_EQ(outcome(add_keys(*filter, keys)), expected);
    EXPECT_EQ(filter->state(0).slices.at(0).layers.at(0).keys, 900U);
  }
}

TEST(ServersThatJudge, JudgeABatchOfSeveralCalls) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 100'000));
  auto keys = random_digests(4).take(2 * packed_keys_a_call + 7);
  keys.push_back(keys.front());
  const auto got = add_keys(*filter, keys);
  ASSERT_TRUE(got.result) << got.result.error().message;
  EXPECT_EQ(got.verdicts.back(), verdict::seen);
  EXPECT_EQ(got.result->fresh, keys.size() - 1);
}

TEST(ServersThatJudge, LookUpKeysOfTimesFarApartInTheirOrder) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const spec s = planned(
      *store, {.capacity = 10'000, .window = window_spec{std::chrono::seconds(900), 900}, .partitions = 1});
  const auto filter = store->create("f", s);
  const auto keys = random_digests(4).take(400);
  std::vector<event_time> times;
  for (std::size_t i = 0; i < keys.size(); ++i)
    times.push_back(event_time(std::chrono::seconds(i % 2 == 0 ? 1'000 + 2 * i : 1'001)));
  std::vector<verdict> out(keys.size());
  const std::span<const digest> first(keys.data(), keys.size() / 2);
  const partition_batch some{0, first, std::span(times).first(first.size()),
                             std::span(out).first(first.size())};
  ASSERT_TRUE(filter->add({&some, 1}));
  const partition_batch all{0, keys, times, out};
  ASSERT_TRUE(filter->check({&all, 1}));
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], i < first.size() ? verdict::seen : verdict::fresh) << i;
}

/// Prevents this process from opening more files during its lifetime.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Session, MissingDescriptorsFailTheBatchAndNothingElse) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs a descriptor to inspect an object";
#endif
  redis_server server(test::with_module());
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 100));
  const auto keys = random_digests(4).take(10);
  // Asked while the only connections wait, so that others are needed.
  class holding final : public retry_policy {
   public:
    explicit holding(const stored_filter& f) : filter_(f) {}
    bool tries_again(const outage&) override {
      const no_descriptors limited;
      beside_ = check_keys(filter_, random_digests(5).take(3));
      return false;
    }
    void on_recovered() override {}
    std::optional<test::answers> beside_{};

   private:
    const stored_filter& filter_;
  };
  const auto patient = std::make_shared<holding>(*filter);
  store->wait_with(patient);
  server.stop();
  const auto got = add_keys(*filter, keys);
  ASSERT_TRUE(patient->beside_) << outcome(got);
  ASSERT_FALSE(patient->beside_->result);
  // No connections could be created, or existing ones could not connect.
  EXPECT_THAT(patient->beside_->result.error().why,
              testing::AnyOf(batch_failure::cause::storage, batch_failure::cause::backend));
  EXPECT_THAT(patient->beside_->result.error().message, HasSubstr("open files"));
}

}  // namespace
}  // namespace everseen::redis
