// What clients may expect of the gears beside each other, and of servers that allow less than scripts.
// That gears give the same verdicts is in model_property_test.cpp.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/redis/bitfield_gear.hpp"
#include "everseen/redis/fence.hpp"
#include "everseen/redis/partition_task.hpp"
#include "everseen/redis/slot_map.hpp"

#include "test/redis/stored.hpp"
#include "test/redis/talking.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using test::redis_server;

redis_server::options renamed_away() {
  redis_server::options o;
  o.config = {"--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""};
  return o;
}

spec growing(const store& in, std::uint64_t capacity) {
  return planned(in, {.capacity = capacity, .error_rate = 1e-6, .partitions = 1});
}

/// Makes a filter that grows several times, and uses it in every way.
void expect_filter_works(const std::string& url) {
  const auto store = store_at(url);
  const auto filter = store->create("f", growing(*store, 50));
  const auto keys = random_digests(3).take(200);
  EXPECT_EQ(outcome(add_keys(*filter, keys)), "200 fresh");
  EXPECT_EQ(outcome(add_keys(*filter, keys)), "200 seen");
  EXPECT_EQ(outcome(check_keys(*filter, keys)), "200 seen");
  EXPECT_GT(filter->state(0).slices.at(0).layers.size(), 1U);
  EXPECT_THROW(store->create("f", growing(*store, 50)), name_taken);
  store->drop("f");
  EXPECT_FALSE(store->exists("f"));
}

TEST(ServerWithoutScripts, IsServedWhereTheirCommandsWereRenamedAway) {
  const redis_server server(renamed_away());
  expect_filter_works(server.url());
  EXPECT_EQ(server.run({"DBSIZE"}), "0") << "a dropped filter leaves nothing";
}

TEST(ServerWithoutScripts, IsServedWhereTheUserMayNotRunThem) {
  const redis_server server;
  server.run({"ACL", "SETUSER", "clicks", "on", ">secret", "~*", "+@all", "-@scripting"});
  expect_filter_works(server.url("?user=clicks&password=secret"));
}

TEST(ServerWithoutScripts, IsAnErrorForWhoForcesTheGear) {
  const redis_server server(renamed_away());
  const auto store = store_at(server.url());
  (void)store->create("f", growing(*store, 50));
  const auto forced = store_at(server.url("?gear=script"))->open("f", access::write);
  const auto failure = failure_of_add(*forced, random_digests(3).take(5));
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->message.find("unknown command"), std::string::npos) << failure->message;
}

TEST(Gears, GiveEachKeyOneFreshBesideEachOther) {
  const redis_server server;
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
            store_at(server.url(c % 2 ? "?gear=bitfield" : "?gear=script"))->open("f", access::write);
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

/// Whether a transaction that was planned for an epoch runs beside this fence.
bool runs(session& with, std::uint64_t planned) {
  const request r{
      {"fence", 0},
      fence::guard("fence", planned) + encode({"MULTI"}) + encode({"INCR", "n"}) + encode({"EXEC"}),
      fence::guard_commands + 3,
      false};
  return !exchange_one(with, r).value().back().is_nil();
}

TEST(Fence, LetsATransactionThroughInItsEpochAlone) {
  const redis_server server;
  session with(parse_redis_url(server.url()));
  const std::vector<std::uint64_t> epochs = {0,
                                             1,
                                             2,
                                             3,
                                             255,
                                             256,
                                             1000,
                                             std::uint64_t{1} << 40,
                                             (std::uint64_t{1} << 40) + 1,
                                             (std::uint64_t{1} << 60) - 1};
  for (const std::uint64_t epoch : epochs) {
    (void)with.ask({"fence", 0}, {"SET", "fence", fence::bytes_of(epoch)});
    for (const std::uint64_t planned : epochs)
      EXPECT_EQ(runs(with, planned), planned == epoch) << planned << " in " << epoch;
    EXPECT_EQ(with.ask({"fence", 0}, {"GET", "fence"}).text(), fence::bytes_of(epoch)) << "is never changed";
  }
}

TEST(Fence, MissingOneLetsNothingThroughAndStaysMissing) {
  const redis_server server;
  session with(parse_redis_url(server.url()));
  for (int again = 0; again < 2; ++again) EXPECT_FALSE(runs(with, 0));
  test::wait_until([&] { return server.run({"DBSIZE"}) == "0"; }, "the fence has gone");
}

/// A client of the bitfield gear whose every exchange is taken by hand, so that others can come in between.
class bitfield_client {
 public:
  bitfield_client(const std::string& url, remote_filter f, std::span<const digest> keys)
      : filter_(std::move(f)), verdicts_(keys.size()), with_(parse_redis_url(url)) {
    task_.emplace(filter_, partition_task::purpose::add, partition_batch{0, keys, {}, verdicts_}, nullptr,
                  make_gear(gear_kind::bitfield, filter_, with_.name()), nullptr, partition_task::terms{});
  }

  /// One exchange; says which commands it sent.
  std::string step() {
    const request asked = task_->next();
    task_->take(exchange_one(with_, asked));
    return asked.wire;
  }
  /// Until it would send this command.
  void step_before(const std::string& command) {
    while (!task_->done() && task_->next().wire.find(command) == std::string::npos) step();
  }
  void finish() {
    while (!task_->done()) step();
  }
  [[nodiscard]] const std::vector<verdict>& verdicts() const { return verdicts_; }
  [[nodiscard]] partition_task& task() { return *task_; }

 private:
  remote_filter filter_;
  std::vector<verdict> verdicts_;
  session with_;
  std::optional<partition_task> task_;
};

const std::string write = "HINCRBY";

TEST(Fence, WriteThatWasPlannedBeforeTheFilterGrewChangesNothing) {
  for (const std::string other_gear : {"script", "bitfield"}) {
    const redis_server server;
    const auto store = store_at(server.url("?gear=" + other_gear));
    const auto other = store->create("f", growing(*store, 100));
    random_digests random(4);
    ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");

    const auto keys = random.take(10);
    bitfield_client client(server.url(), remote_filter_at(server, "f", other->get_spec()), keys);
    client.step_before(write);
    ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");  // the layer had room for 40
    const auto before = other->state(0);
    EXPECT_NE(client.step().find(write), std::string::npos);
    EXPECT_EQ(client.verdicts(), std::vector(10, verdict::unknown));
    EXPECT_EQ(other->state(0), before);
    EXPECT_EQ(outcome(check_keys(*other, keys)), "10 fresh");
    client.finish();
    EXPECT_EQ(client.verdicts(), std::vector(10, verdict::fresh));
    EXPECT_EQ(outcome(check_keys(*other, keys)), "10 seen");
  }
}

// MIGRATE takes keys one by one: for a while the fence is on one server and the bits on the other.
TEST(Fence, GuardsAWriteWhileItsSlotMoves) {
  test::redis_cluster cluster;
  const auto store = store_at(cluster.url());
  const auto other = store->create("f", growing(*store, 100));
  random_digests random(4);
  ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");

  const auto f = remote_filter_at(cluster.owner(slot_of("everseen:f")), "f", other->get_spec());
  const unsigned slot = slot_of(f.keys.state(f.generation, 0));
  const std::size_t from = slot * 3 / 16384, to = (from + 1) % 3;
  const auto keys = random.take(10);
  bitfield_client client(cluster.url(), f, keys);
  client.step_before(write);
  ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");
  const auto before = other->state(0);

  cluster.begin_to_move(slot, from, to);
  cluster.node(from).run({"MIGRATE", "127.0.0.1", std::to_string(cluster.node(to).port()),
                          f.keys.fence(f.generation, 0), "0", "5000"});
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cluster.move_keys(slot, from, to);
    cluster.finish_to_move(slot, to);
  });
  EXPECT_NE(client.step().find(write), std::string::npos);
  later.join();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::unknown));
  EXPECT_EQ(other->state(0), before);
  client.finish();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::fresh));
  EXPECT_EQ(outcome(check_keys(*other, keys)), "10 seen");
}

// Nothing can tell whether a transaction ran whose answer was lost; so nobody may say so.
TEST(BitfieldGear, BatchCutAnywhereIsAnsweredRightlyOrNotAtAll) {
  const redis_server server;
  cutting_proxy proxy(server.port());
  const auto direct = store_at(server.url());
  (void)direct->create("f", growing(*direct, 100'000));
  const auto filter = store_at(proxy.url("?gear=bitfield"))->open("f", access::write);
  random_digests random(5);
  std::size_t unanswered = 0;
  for (const auto way : {cutting_proxy::direction::to_server, cutting_proxy::direction::to_client}) {
    bool cut = true;
    for (std::size_t at = 0; cut && !testing::Test::HasFailure(); at += 7) {
      auto keys = random.take(2);
      keys.push_back(keys.front());
      proxy.cut_after(way, at);
      const auto got = add_keys(*filter, keys);
      if (got.result) {
        EXPECT_EQ(got.verdicts, (std::vector{verdict::fresh, verdict::fresh, verdict::seen})) << at;
        EXPECT_EQ(outcome(check_keys(*filter, keys)), "3 seen") << at;
      } else {
        EXPECT_EQ(got.verdicts, std::vector(3, verdict::unknown)) << at;
        ++unanswered;
      }
      cut = proxy.has_cut();
    }
  }
  EXPECT_GT(unanswered, 0U);
}

TEST(BitfieldGear, LengtheningASegmentThatWasPublishedMeanwhileLeavesItAsItIs) {
  const redis_server server;
  const auto store = store_at(server.url());
  const auto filter = store->create("f", growing(*store, 100));
  ASSERT_EQ(outcome(add_keys(*filter, random_digests(4).take(60))), "60 fresh");
  const remote_filter f = remote_filter_at(server, "f", filter->get_spec());
  session with(parse_redis_url(server.url()));
  const auto client = make_gear(gear_kind::bitfield, f, with.name());
  const std::uint64_t bytes = filter->state(0).slices.at(0).layers.at(0).shape.bytes;
  const lengthening late = {{0, 0, 0}, 0, bytes};
  const std::string segment = f.keys.segment(f.generation, late.id);
  const std::string bits = server.run({"GET", segment});
  const answer a = exchange_one(with, client->lengthen(late));
  EXPECT_EQ(client->lengthened(late, a).what, meaning::kind::stale);
  EXPECT_EQ(server.run({"PTTL", segment}), "-1") << "it must not expire";
  EXPECT_EQ(server.run({"GET", segment}), bits);
}

TEST(BitfieldGear, WriteToAFilterThatWasDroppedMeanwhileLeavesNothing) {
  const redis_server server;
  const auto store = store_at(server.url("?gear=bitfield"));
  const auto other = store->create("f", growing(*store, 100));
  random_digests random(4);
  ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");
  const auto keys = random.take(10);
  bitfield_client client(server.url(), remote_filter_at(server, "f", other->get_spec()), keys);
  client.step_before(write);
  store->drop("f");
  client.finish();
  EXPECT_EQ(client.verdicts(), std::vector(10, verdict::unknown));
  test::wait_until([&] { return server.run({"DBSIZE"}) == "0"; }, "the dropped filter has gone");
}

TEST(BitfieldGear, GivesNothingBackToAFilterThatWasEmptiedMeanwhile) {
  const redis_server server;
  const auto store = store_at(server.url());
  const auto other = store->create("f", growing(*store, 1000));
  random_digests random(4);
  const auto keys = random.take(100);
  ASSERT_EQ(outcome(add_keys(*other, keys)), "100 fresh");
  bitfield_client client(server.url(), remote_filter_at(server, "f", other->get_spec()), keys);
  client.step_before(write);
  client.step();
  ASSERT_FALSE(client.task().done()) << "it has to give them back";
  store->reset("f");
  ASSERT_EQ(outcome(add_keys(*other, random.take(5))), "5 fresh");
  client.finish();
  EXPECT_EQ(client.verdicts(), std::vector(100, verdict::seen)) << "they were, when it asked";
  EXPECT_EQ(other->state(0).slices.at(0).layers.at(0).keys, 5U);
}

TEST(BitfieldGear, KeysThatAreThereTakeNoRoomFromOthersWhereTheFilterRefuses) {
  const redis_server server;
  const auto store = store_at(server.url());
  const auto other = store->create(
      "f", planned(*store,
                   {.capacity = 2000, .error_rate = 1e-6, .growth = growth_kind::refuse, .partitions = 1}));
  random_digests random(4);
  const auto keys = random.take(900);
  ASSERT_EQ(outcome(add_keys(*other, keys)), "900 fresh");
  bitfield_client client(server.url(), remote_filter_at(server, "f", other->get_spec()), keys);
  while (!client.task().done()) {
    client.step();
    ASSERT_EQ(other->state(0).slices.at(0).layers.at(0).keys, 900U);
  }
  EXPECT_EQ(client.verdicts(), std::vector(900, verdict::seen));
}

}  // namespace
}  // namespace everseen::redis
