// The two command sets together, and servers with fewer permissions than scripts need. That command sets give
// the same verdicts is in model_property_test.cpp.

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

#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/script/sequence.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/served/served_scripts.hpp"
#include "everseen/redis/wire/slot_map.hpp"

#include "test/redis/stored.hpp"
#include "test/redis/transport/talking.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> renamed_away = {"--rename-command", "EVAL",    "",
                                               "--rename-command", "EVALSHA", ""};

spec growing(const store& in, std::uint64_t capacity) {
  return planned(in, {.capacity = capacity, .error_rate = 1e-6, .partitions = 1});
}

void expect_filter_is_refused(const std::string& url) {
  const auto store = store_at(url);
  EXPECT_THAT(message_of<backend_error>([&] { (void)store->create("f", growing(*store, 50)); }),
              AllOf(HasSubstr("forbids scripts"), HasSubstr("EVALSHA"), HasSubstr("everseen module"),
                    HasSubstr("everseen attach")));
}

TEST(ServerWithoutScripts, IsRefusedWhereScriptCommandsAreRenamed) {
  const redis_server server(renamed_away);
  expect_filter_is_refused(server.url());
  expect_filter_is_refused(server.url("?commands=script"));
  EXPECT_EQ(server.run({"DBSIZE"}), "0") << "nothing is started that cannot be used";
}

// Promise: a server that allows neither scripts nor the module is refused (redis, Who judges).
TEST(ServerWithoutScripts, IsRefusedWhereTheUserMayNotRunScripts) {
  const redis_server server;
  server.run({"ACL", "SETUSER", "clicks", "on", ">secret", "~*", "+@all", "-@scripting"});
  expect_filter_is_refused(server.url("?user=clicks&password=secret"));
}

TEST(ServerWithoutScripts, IsUsedThroughTheModuleWhereAFilterExists) {
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
  EXPECT_THAT(message_of<backend_error>([&] { store->reset("f"); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { store->rename("f", "g", store::namesake::refuse); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { store->expire_at("f", event_time::max()); }), told);
  EXPECT_THAT(message_of<backend_error>([&] { (void)store->begin_rebuild("f", s, {}); }), told);
  EXPECT_EQ(server.run({"KEYS", "*"}), all) << "nothing is started that cannot be finished";
  EXPECT_EQ(outcome(add_keys(*filter, random_digests(3).take(5))), "5 fresh");
}

TEST(ServerWithoutScripts, IsRefusedWhereScriptsAreDeniedToAnOpenFilter) {
  const redis_server server;
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 50));
  server.run({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
  const auto failure = failure_of_add(*filter, random_digests(3).take(5));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("forbids scripts"), HasSubstr("EVALSHA")));
  server.run({"ACL", "SETUSER", "default", "+@all"});
  EXPECT_EQ(outcome(add_keys(*filter, random_digests(3).take(5))), "5 fresh");
}

TEST(CommandSets, ThereAreTwoAndOthersAreRefused) {
  const redis_server server;
  for (const std::string commands : {"merge", "fast"})
    EXPECT_THAT(message_of<parameter_error>([&] { (void)store_at(server.url("?commands=" + commands)); }),
                HasSubstr("commands= is script or module"));
  const auto store = store_at(server.url("?commands=bitfield"));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)store->create("f", growing(*store, 50)); }),
              AllOf(HasSubstr("commands=script"), HasSubstr("commands=module"), HasSubstr("attached")));
}

TEST(CommandSets, GiveFreshOnceForEachKeyBesideEachOther) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url());
  (void)store->create("f", growing(*store, 500));
  const auto keys = random_digests(9).take(20'000);
  std::vector<std::atomic<int>> fresh(keys.size());
  std::atomic<std::size_t> unknown = 0;
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < 6; ++c)
      clients.emplace_back([&, c] {
        const auto f =
            store_at(server.url(c % 2 ? "?commands=module" : "?commands=script"))->open("f", access::write);
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

/// A client whose every exchange is driven by hand, so that others can act in between.
class stepwise_client {
 public:
  stepwise_client(command_kind commands, const std::string& url, filter_identity f,
                  std::span<const digest> keys)
      : commands_(commands), filter_(std::move(f)), verdicts_(keys.size()), with_(parse_redis_url(url)) {
    task_.emplace(command_set(filter_, commands, with_.name(), answers_kept), partition_task::purpose::add,
                  partition_batch{0, keys, {}, verdicts_}, nullptr);
  }

  /// One exchange. Returns whether it was to add keys.
  bool step() {
    const bool adds = task_->adds_next();
    task_->take(exchange_one(with_, task_->next()));
    return adds;
  }
  /// Until it would add. The server has cached its script by then.
  void step_before_adding() {
    if (commands_ == command_kind::script)
      (void)exchange_one(with_, {{}, encode({"SCRIPT", "LOAD", text()}), 1, true});
    while (!task_->done() && !task_->adds_next()) step();
  }
  void finish() {
    while (!task_->done()) step();
  }
  [[nodiscard]] const std::vector<verdict>& verdicts() const { return verdicts_; }

 private:
  [[nodiscard]] std::string text() const {
    return scripts::add(growth::plan_layer(filter_.spec, 0).shape.probes).text;
  }

  command_kind commands_;
  filter_identity filter_;
  std::vector<verdict> verdicts_;
  session with_;
  std::optional<partition_task> task_;
};

std::string_view name_of(command_kind commands) {
  return commands == command_kind::module ? "module" : "script";
}

class EachCommandSet : public testing::TestWithParam<command_kind> {};

INSTANTIATE_TEST_SUITE_P(CommandSets, EachCommandSet,
                         testing::Values(command_kind::script, command_kind::module),
                         [](const auto& one) { return std::string(name_of(one.param)); });

// Promise: an outdated call changes nothing, whether the filter has grown, its slot has moved, or it was
// dropped (redis, What holds for all filters on Redis).
TEST_P(EachCommandSet, WritePlannedBeforeTheFilterGrewChangesNothing) {
  for (const command_kind other_commands : {command_kind::script, command_kind::module}) {
    const redis_server server(test::with_module());
    const auto store = store_at(server.url("?commands=" + std::string(name_of(other_commands))));
    const auto other = store->create("f", growing(*store, 100));
    random_digests random(4);
    ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");

    const auto keys = random.take(10);
    stepwise_client client(GetParam(), server.url(), identity_at(server, "f", other->get_spec()), keys);
    client.step_before_adding();
    ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");  // the layer had room for 40
    const auto before = other->state(0);
    EXPECT_TRUE(client.step());
    EXPECT_EQ(client.verdicts(), std::vector(10, verdict::unknown));
    EXPECT_EQ(other->state(0), before);
    EXPECT_EQ(outcome(check_keys(*other, keys)), "10 fresh");
    client.finish();
    EXPECT_EQ(client.verdicts(), std::vector(10, verdict::fresh));
    EXPECT_EQ(outcome(check_keys(*other, keys)), "10 seen");
  }
}

// MIGRATE moves keys one by one: for a while the state is on one server and the bits on the other.
// Promise: an outdated call changes nothing, whether the filter has grown, its slot has moved, or it was
// dropped (redis, What holds for all filters on Redis).
TEST_P(EachCommandSet, WritePlannedBeforeItsSlotMovedChangesNothing) {
  test::redis_cluster cluster(test::redis_cluster::replicas::none, test::with_module());
  const auto store = store_at(cluster.url());
  const auto other = store->create("f", growing(*store, 100));
  random_digests random(4);
  ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");

  const auto f = identity_at(cluster.owner(slot_of("everseen:{names}")), "f", other->get_spec());
  const std::string state = f.keys.state(0);
  const unsigned slot = slot_of(state);
  const std::size_t from = slot * 3 / 16384, to = (from + 1) % 3;
  const auto keys = random.take(10);
  stepwise_client client(GetParam(), cluster.url(), f, keys);
  client.step_before_adding();
  ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");
  const auto before = other->state(0);

  cluster.begin_to_move(slot, from, to);
  cluster.node(from).run(
      {"MIGRATE", "127.0.0.1", std::to_string(cluster.node(to).port()), state, "0", "5000"});
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cluster.move_keys(slot, from, to);
    cluster.finish_to_move(slot, to);
  });
  EXPECT_TRUE(client.step());
  later.join();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::unknown));
  EXPECT_EQ(other->state(0), before);
  client.finish();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::fresh));
  EXPECT_EQ(outcome(check_keys(*other, keys)), "10 seen");
}

// Promise: an outdated call changes nothing, whether the filter has grown, its slot has moved, or it was
// dropped (redis, What holds for all filters on Redis).
TEST_P(EachCommandSet, WriteToAFilterThatWasDroppedMeanwhileLeavesNothing) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url("?commands=module"));  // which leaves no tokens by scripts
  const auto other = store->create("f", growing(*store, 100));
  random_digests random(4);
  const auto keys = random.take(10);
  stepwise_client client(GetParam(), server.url(), identity_at(server, "f", other->get_spec()), keys);
  client.step_before_adding();
  store->drop("f");
  client.finish();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::unknown));
  EXPECT_EQ(server.run({"KEYS", "*"}), "");
}

TEST_P(EachCommandSet, KnownKeysTakeNoRoomFromOthersWhereTheFilterRefuses) {
  const redis_server server(test::with_module());
  const auto store = store_at(server.url("?commands=" + std::string(name_of(GetParam()))));
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
  redis_server server;
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 100));
  const auto keys = random_digests(4).take(10);
  // Asked while the only session waits, so that another session is needed.
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
  // No session could be created, or an existing session could not connect.
  EXPECT_THAT(patient->beside_->result.error().why,
              testing::AnyOf(batch_failure::cause::storage, batch_failure::cause::backend));
  EXPECT_THAT(patient->beside_->result.error().message, HasSubstr("open files"));
}

TEST(SegmentGrowth, GrowthOfASegmentThatAnotherClientListedChangesNothing) {
  const redis_server server;
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 100));
  ASSERT_EQ(outcome(add_keys(*filter, random_digests(4).take(60))), "60 fresh");
  const filter_identity f = identity_at(server, "f", filter->get_spec());
  const std::string state = f.keys.state(0), segment = f.keys.segment({0, 0, 0});
  const std::string bits = server.run({"GET", segment});
  const std::string bytes = std::to_string(filter->state(0).slices.at(0).layers.at(0).shape.bytes);
  session with(parse_redis_url(server.url()));
  const reply late = run_script(with, {&scripts::grow(),
                                       {state, 0},
                                       {state, segment},
                                       {"0", bytes, "4194304", "600000", "1", "a list", "keys:0.0"}});
  EXPECT_EQ(late.text(), "S");
  EXPECT_EQ(server.run({"PTTL", segment}), "-1") << "it must not expire";
  EXPECT_EQ(server.run({"GET", segment}), bits);
}

TEST(Reset, RepairsAnEpochThatNoScriptWouldEverMatch) {
  const redis_server server;
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 100));
  ASSERT_EQ(outcome(add_keys(*filter, random_digests(4).take(60))), "60 fresh");
  server.run({"HSET", state_of(server, "f"), "epoch", "00"});
  store->reset("f");
  EXPECT_THAT(server.run({"HGET", state_of(server, "f"), "epoch"}), testing::SizeIs(testing::Gt(3u)))
      << "higher than the one that a client with an open handle remembers";
  EXPECT_EQ(outcome(add_keys(*filter, random_digests(4).take(60))), "60 fresh");
}

}  // namespace
}  // namespace everseen::redis
