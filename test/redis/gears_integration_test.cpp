// What clients may expect of the gears beside each other, and of servers that allow less than scripts.
// That gears give the same verdicts is in model_property_test.cpp.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/redis/bitfield_gear.hpp"
#include "everseen/redis/fence.hpp"
#include "everseen/redis/partition_task.hpp"

#include "test/redis/stored.hpp"
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

TEST(Fence, LetsATransactionThroughInItsEpochAlone) {
  const redis_server server;
  session with(parse_redis_url(server.url()));
  const auto runs_in = [&](std::uint64_t planned, std::uint64_t epoch) {
    (void)with.ask({"fence", 0}, {"SET", "fence", fence::bytes_of(epoch)});
    const request r{
        {"fence", 0},
        fence::guard("fence", planned) + encode({"MULTI"}) + encode({"INCR", "n"}) + encode({"EXEC"}),
        fence::guard_commands + 3,
        false};
    const answer a = std::move(with.exchange(std::span(&r, 1)).front());
    EXPECT_EQ(with.ask({"fence", 0}, {"GET", "fence"}).text(), fence::bytes_of(epoch)) << "is never changed";
    return !a.value().back().is_nil();
  };
  for (const std::uint64_t epoch : std::vector<std::uint64_t>{0, 1, 2, 255, std::uint64_t{1} << 40}) {
    EXPECT_TRUE(runs_in(epoch, epoch)) << epoch;
    for (const std::uint64_t later : {epoch + 1, epoch + 2, epoch + 1000, std::uint64_t{1} << 50})
      EXPECT_FALSE(runs_in(epoch, later)) << epoch << " in " << later;
  }
}

// By hand, since it takes a change between a client's look and its write.
TEST(Fence, WriteThatWasPlannedBeforeTheFilterGrewChangesNothing) {
  for (const std::string other_gear : {"script", "bitfield"}) {
    const redis_server server;
    const auto store = store_at(server.url("?gear=" + other_gear));
    const auto other = store->create("f", growing(*store, 100));
    random_digests random(4);
    ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");

    const remote_filter f = remote_filter_at(server, "f", other->get_spec());
    const auto keys = random.take(10);
    std::vector<verdict> out(keys.size());
    session with(parse_redis_url(server.url()));
    partition_task task(f, partition_task::purpose::add, {0, keys, {}, out}, nullptr,
                        make_gear(gear_kind::bitfield, f, with.name()), nullptr, {});
    const auto step = [&] {
      const request asked = task.next();
      task.take(std::move(with.exchange(std::span(&asked, 1)).front()));
      return asked.wire;
    };
    EXPECT_NE(step().find("HGETALL"), std::string::npos);
    EXPECT_NE(step().find("STRLEN"), std::string::npos);
    ASSERT_EQ(outcome(add_keys(*other, random.take(60))), "60 fresh");  // the layer had room for 40
    const auto before = other->state(0);
    EXPECT_NE(step().find("HINCRBY"), std::string::npos);
    EXPECT_EQ(task.done_so_far().unknown, 10U);
    EXPECT_EQ(other->state(0), before);
    EXPECT_EQ(outcome(check_keys(*other, keys)), "10 fresh");
    while (!task.done()) step();
    EXPECT_EQ(task.done_so_far().fresh, 10U);
    EXPECT_EQ(outcome(check_keys(*other, keys)), "10 seen");
  }
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

}  // namespace
}  // namespace everseen::redis
