// A running `everseen serve` as a store: refusals, restarts and cut connections.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/client/client_store.hpp"
#include "everseen/client/server_link.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"
#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/client/served_store.hpp"
#include "test/foreign/attached/attached.hpp"
#include "test/serve/serving.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen::client {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::never_wrong;
using test::port_of;
using test::random_digests;
using test::refusal;
using test::serving;
using test::store_of;
using test::store_through;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using direction = cutting_proxy::direction;

spec small_spec(std::optional<window_spec> window = {}) {
  return make_spec({.capacity = 1'000, .error_rate = never_wrong, .window = window, .partitions = 1});
}

// Promise: a copy of a filter ends over a link that carries little before it is cut (operations, As a
// store).
TEST(ClientStore, FilterIsCopiedOverALinkThatIsCutAgainAndAgain) {
  const serving server;
  const auto bits_of = [](const stored_filter& f) {
    std::vector<std::byte> all;
    f.visit_segments(0, [&](const segment_id&, const layer_state&, std::span<const std::byte> bits) {
      all.insert(all.end(), bits.begin(), bits.end());
    });
    return all;
  };
  filter near("f", store_of(server)->create(
                       "f", make_spec({.capacity = 300'000, .error_rate = 1e-6, .partitions = 1})));
  for (int i = 0; i < 1'000; ++i) near.add(std::to_string(i));
  cutting_proxy proxy(port_of(server));
  proxy.cut_every(direction::to_client, 60'000);
  const auto distant = store_through(proxy, "?retry_for=1s")->open("f", access::read);
  const std::vector<std::byte> copied = bits_of(*distant);
  EXPECT_GT(copied.size(), 1'000'000u);
  EXPECT_TRUE(copied == bits_of(near.stored()));
  EXPECT_GT(proxy.connections(), 15u);
}

// Promise: keys are added over a link that is cut again and again, however many there are in a batch
// (operations, As a store).
TEST(ClientStore, BatchOfAnyLengthIsAddedOverALinkThatIsCutAgainAndAgain) {
  const serving server;
  (void)store_of(server)->create("f", make_spec({.capacity = 300'000, .error_rate = 1e-12, .partitions = 1}));
  cutting_proxy proxy(port_of(server));
  proxy.cut_every(direction::to_server, 60'000);
  filter distant("f", store_through(proxy, "?retry_for=1s")->open("f", access::write));
  std::vector<std::string> texts;
  for (int i = 0; i < 50'000; ++i) texts.push_back("a key of some thirty bytes, number " + std::to_string(i));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  std::vector<verdict> out(keys.size());
  const auto added = distant.add(keys, out);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_THAT(out, Each(verdict::fresh));
  ASSERT_TRUE(distant.add(keys, out));
  EXPECT_THAT(out, Each(verdict::seen));
  EXPECT_GT(proxy.connections(), 50u);
}

// The server judges from a mirror of its own.
TEST(ClientStore, NothingIsAnsweredOnceTheServerKnowsThatAnotherDroppedItsFilter) {
  const test::redis_server redis;
  const serving server(redis.unix_url());
  filter f("f", store_of(server)->create("f", small_spec()));
  const std::vector<std::string_view> known = {"a", "b", "c"}, others = {"d", "e"};
  std::vector<verdict> out(known.size());
  ASSERT_TRUE(f.add(known, out));
  EXPECT_THAT(out, Each(verdict::fresh));
  open_store(redis.unix_url())->drop("f");
  EXPECT_FALSE(f.add(others, std::span(out).first(others.size())));
  for (int batch = 0; batch < 3; ++batch) {
    EXPECT_FALSE(f.add(known, out));
    EXPECT_THAT(out, Each(verdict::unknown)) << batch;
    EXPECT_FALSE(f.may_contain(known, out));
    EXPECT_THAT(out, Each(verdict::unknown)) << batch;
  }
}

TEST(ClientStore, KeysOfOneProcessAreSeenByAnother) {
  const serving server;
  const auto one = store_of(server), other = store_of(server);
  filter mine("f", one->create("f", one->plan({.capacity = 200'000, .error_rate = never_wrong})));
  filter theirs("f", other->open("f", access::write));
  EXPECT_EQ(mine.add("a"), verdict::fresh);
  EXPECT_EQ(theirs.add("a"), verdict::seen);
  EXPECT_EQ(server.cli({"BF.EXISTS", "f", "a"}), "1") << "the keys are those of every client";
  EXPECT_EQ(theirs.info().keys, 1U);
  EXPECT_EQ(theirs.get_spec(), mine.get_spec());
}

// Promise: a URL of another kind of server is an error that names the right scheme (operations, As a store).
TEST(ClientStore, ServerOfTheOtherKindIsNamed) {
  const serving ours;
  const test::redis_server redis;
  redis.run({"SET", "x", "1"});
  const auto not_ours = open_store("everseen://" + redis.address() + "?retry_for=0s");
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { not_ours->drop("x"); }, [&] { (void)not_ours->list(); },
                                          [&] { (void)not_ours->open("x", access::read); }})
    EXPECT_THAT(refusal(call), HasSubstr("begins with redis://"));
  EXPECT_EQ(redis.run({"GET", "x"}), "1");
  const auto no_redis = open_store("unix:" + ours.path() + "?retry_for=0s");
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { (void)no_redis->create("x", no_redis->plan({.capacity = 100})); },
           [&] { (void)no_redis->list(); }, [&] { (void)no_redis->open("x", access::read); }})
    EXPECT_THAT(refusal(call), HasSubstr("begins with everseen://"));
}

TEST(ClientStore, UnsupportedOperationsAreRefusedWithAdvice) {
  const serving server;
  const auto place = store_of(server);
  for (const char* name : {"a", "b"}) (void)place->create(name, small_spec());
  const std::string advice = "run the verb on the store of the server";
  EXPECT_THAT(refusal([&] { place->link("a", "b", {}); }), HasSubstr(advice));
  EXPECT_THAT(refusal([&] { place->unlink("b"); }), HasSubstr(advice));
  EXPECT_THAT(refusal([&] { place->end_job("a", "j"); }), HasSubstr(advice));
  EXPECT_THAT(refusal([&] { (void)place->jobs("a"); }), HasSubstr(advice));
  EXPECT_THAT(refusal([&] { (void)place->begin_rebuild("a", small_spec(), {}); }), HasSubstr(advice));
}

TEST(ClientStore, NamesakeIsNotMistakenForTheFirstFilter) {
  const serving server;
  const auto place = store_of(server);
  filter f("f", place->create("f", small_spec()));
  EXPECT_EQ(f.add("a"), verdict::fresh);
  place->drop("f");
  EXPECT_THAT(refusal([&] { (void)f.add("a"); }), HasSubstr("no filter named 'f'"));
  (void)place->create("f", small_spec());
  EXPECT_THAT(refusal([&] { (void)f.add("a"); }), HasSubstr("another one has its name"));
  EXPECT_THAT(refusal([&] { (void)f.info(); }), HasSubstr("another one has its name"));
  filter again("f", place->open("f", access::write));
  EXPECT_EQ(again.add("a"), verdict::fresh);
}

TEST(ClientStore, KeyThatIsTooLongForARequestIsUnknownAndTheOthersAreJudged) {
  const serving server;
  const auto place = store_of(server);
  filter f("f", place->create("f", small_spec()));
  const std::string giant((16 << 20) + 1, 'x'), longest(16 << 20, 'y');
  const std::vector<std::string_view> keys = {"a", giant, longest, "a"};
  std::vector<verdict> out(keys.size());
  const batch_result got = f.add(keys, out);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().why, batch_failure::cause::key);
  EXPECT_THAT(out, ElementsAre(verdict::fresh, verdict::unknown, verdict::fresh, verdict::seen));
}

TEST(ClientStore, UserWithoutTheRightToCopyStillUsesTheFilter) {
  const serving server("mem:", {"--user", "root:admin-secret:admin", "--user", "writer:write-secret:write"});
  const auto admin = store_of(server, "?user=root&password=admin-secret");
  const auto writer = store_of(server, "?user=writer&password=write-secret");
  filter made("f", admin->create("f", small_spec()));
  filter f("f", writer->open("f", access::write));
  EXPECT_EQ(f.add("a"), verdict::fresh);
  EXPECT_EQ(made.add("a"), verdict::seen);
  EXPECT_EQ(f.info().keys, 1U);
  EXPECT_EQ(f.get_spec().seed, hash_seed{}) << "which would let the user create keys that collide";
  EXPECT_EQ(made.get_spec(), admin->open("f", access::read)->get_spec());
  const auto visit = [](const auto&, const auto&, auto) {};
  EXPECT_THAT(refusal([&] { f.stored().visit_segments(0, visit); }), HasSubstr("'admin'"));
  (void)admin->create("full", make_spec({.capacity = 100, .growth = growth_kind::overfill}));
  filter full("full", writer->open("full", access::write));
  for (int i = 0; i < 2000; ++i) full.add(std::to_string(i));
  EXPECT_GT(full.info().error_rate_now, 0.5) << "by the counts, as its bits are not for this user";
  (void)admin->create("empty", small_spec());
  const filter empty("empty", writer->open("empty", access::read));
  EXPECT_THAT(refusal([&] { empty.stored().visit_segments(0, visit); }), HasSubstr("'admin'"));
  EXPECT_THAT(refusal([&] { (void)store_of(server)->list(); }), HasSubstr("everseen://:PASSWORD@HOST"));
}

TEST(ClientStore, FilterOfAnotherProgramIsUsedWhateverItsLength) {
  const test::redis_server redis;
  const auto place = redis::store_at(redis.unix_url());
  filter kept =
      foreign::attached(*place, "a", foreign::attachment_to("shared", foreign::family::gozero, 20'000));
  const serving server(redis.unix_url());
  filter f("a", store_of(server)->open("a", access::write));
  EXPECT_EQ(f.add("one"), verdict::fresh);
  EXPECT_TRUE(kept.may_contain("one"));
  EXPECT_EQ(f.info().keys, 1U);
  EXPECT_THAT(refusal([&] { f.stored().visit_segments(0, [](const auto&, const auto&, auto) {}); }),
              HasSubstr("'a' is attached"));
}

TEST(ClientStore, BatchBeforeItsTurnIsRefusedNotRiddenOut) {
  const serving server;
  (void)store_of(server)->create("f", small_spec());
  const server_link link(redis::parse_everseen_url("everseen+unix:" + server.path()));
  const auto ask = [&](std::initializer_list<std::string_view> words) {
    return refusal([&] { (void)link.ask(words, "f", server_link::repeat::yes); });
  };
  EXPECT_EQ(ask({"EVERSEEN.SESSION", "s"}), "nothing was refused");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(ask({"EVERSEEN.ADD", "f", "SESSION", "s", "2", "DIGITS", "ITEMS", "a"}), HasSubstr("EARLY"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 9s) << "an outage is ridden out for 10 s";
}

TEST(ClientStore, ServerThatTakesOnlyShortRequestsIsRefused) {
  const serving server("mem:", {"--max-request", "64Ki"});
  EXPECT_THAT(refusal([&] { (void)store_of(server)->list(); }), HasSubstr("--max-request"));
}

TEST(ClientStore, FiltersAreHashedAsForStrangersUnlessOneChooses) {
  const serving server;
  const auto place = store_of(server);
  EXPECT_EQ(place->plan({}).hash, hash_kind::siphash);
  EXPECT_EQ(place->plan({.hash = hash_kind::xxh3}).hash, hash_kind::xxh3);
  EXPECT_EQ(place->plan({.capacity = 1'000'000}).hash, hash_kind::siphash);
  EXPECT_FALSE(has_secret_seed(place->plan({.layout = layout_kind::guava64}).hash));
}

TEST(ClientStore, TimesOfKeysDecideAsInAWindowInMemory) {
  const serving server;
  const auto place = store_of(server);
  const spec s = make_spec(
      {.capacity = 1'000, .error_rate = never_wrong, .window = window_spec{60s, 6}, .partitions = 3});
  memory_store memory;
  filter here("f", memory.create("f", s)), there("f", place->create("f", s));
  random_digests random{5};
  std::vector<std::string> texts;
  std::vector<event_time> times;
  for (int i = 0; i < 10'000; ++i) {
    texts.push_back("key " + std::to_string(random.word() % 2'000));
    times.push_back(event_time(20ms * i - std::chrono::milliseconds(random.word() % 90'000)));
  }
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  std::vector<verdict> expected(keys.size()), got(keys.size());
  const batch_result sum = here.add(keys, expected, times);
  ASSERT_TRUE(sum);
  EXPECT_GT(sum->late, 100U);
  ASSERT_TRUE(there.add(keys, got, times));
  EXPECT_EQ(got, expected);
  ASSERT_TRUE(here.may_contain(keys, expected, times));
  ASSERT_TRUE(there.may_contain(keys, got, times));
  EXPECT_EQ(got, expected);
  for (std::uint32_t p = 0; p < 3; ++p) EXPECT_EQ(there.stored().state(p), here.stored().state(p));
}

TEST(ClientStore, FullServerAddsNothingAndReportsIt) {
  const serving server("mem:", {"--maxmemory", "100000"});
  const auto place = store_of(server);
  EXPECT_THAT(
      refusal<storage_error>([&] { (void)place->create("big", place->plan({.capacity = 10'000'000})); }),
      HasSubstr("no more room"));
  EXPECT_FALSE(place->exists("big"));
}

TEST(ClientStore, FilterThatCannotGrowIsFullForTheKeysThatNeedMoreRoom) {
  const serving server("mem:", {"--maxmemory", "100000"});
  const auto place = store_of(server);
  const auto filter = place->create("grows", place->plan({.capacity = 1'000}));
  random_digests random{8};
  const auto held = random.take(1'000);
  ASSERT_TRUE(add_keys(*filter, held, event_time(0s)).result);
  const auto refused = add_keys(*filter, random.take(60'000), event_time(0s)).result;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().why, batch_failure::cause::full);
  EXPECT_THAT(refused.error().message,
              testing::AllOf(HasSubstr("cannot grow"), HasSubstr("raise maxmemory")));
  EXPECT_TRUE(add_keys(*filter, held, event_time(0s)).result) << "keys that it has need no room";
}

// Promise: a batch of a store that is a server gets its first answer, wherever it is cut (guarantees,
// Stores).
TEST(ClientStore, BatchCutAnywhereGetsTheAnswerOfAnUndisturbedOne) {
  const serving server;
  cutting_proxy proxy(port_of(server));
  const auto place = store_through(proxy);
  random_digests random{7};
  memory_store memory;
  const spec s = small_spec(window_spec{1min, 3});
  const auto model = memory.create("f", s);
  (void)place->create("f", s);
  int steps = 0;
  for (const direction towards : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t bytes = 0; cut && !HasFailure(); bytes += towards == direction::to_server ? 13 : 1) {
      const event_time when(3s * ++steps);
      const auto first = random.take(1);
      auto keys = random.take(20);
      keys.insert(keys.end(), first.begin(), first.end());
      const auto filter = place->open("f", access::write);
      answered(add_keys(*model, first, when));
      ASSERT_TRUE(add_keys(*filter, first, when).result);
      proxy.cut_after(towards, bytes);
      const auto got = add_keys(*filter, keys, when);
      ASSERT_TRUE(got.result) << got.result.error().message;
      EXPECT_EQ(got.verdicts, add_keys(*model, keys, when).verdicts)
          << "cut after " << bytes << (towards == direction::to_server ? " to the server" : " to the client");
      cut = proxy.has_cut();
    }
  }
  EXPECT_GT(steps, 40) << "parts of a batch were never cut";
}

/// One batch needs many requests in flight.
TEST(ClientStore, LongBatchCutAnywhereGetsTheAnswerOfAnUndisturbedOne) {
  const serving server;
  cutting_proxy proxy(port_of(server));
  const auto place = store_through(proxy);
  random_digests random{8};
  const auto filter = place->create("f", make_spec({.capacity = 1'000'000, .error_rate = never_wrong}));
  for (int round = 0; round < 12; ++round) {
    auto keys = random.take(20'000);
    keys.insert(keys.end(), keys.begin(), keys.begin() + 10'000);
    const bool to_server = round % 2 == 0;
    proxy.cut_after(to_server ? direction::to_server : direction::to_client,
                    random.word() % (to_server ? 600'000 : 30'000));
    const auto got = add_keys(*filter, keys);
    ASSERT_TRUE(got.result) << got.result.error().message;
    EXPECT_EQ(*got.result, (tally{.fresh = 20'000, .seen = 10'000}));
    EXPECT_TRUE(std::all_of(got.verdicts.begin(), got.verdicts.begin() + 20'000,
                            [](verdict v) { return v == verdict::fresh; }));
  }
}

/// Restarts the server as soon as an attempt has failed.
class restarting final : public retry_policy {
 public:
  explicit restarting(serving& server) : server_(server) {}
  bool tries_again(const outage& trouble) override {
    const std::scoped_lock alone(lock_);
    if (!std::exchange(has_restarted_, true)) {
      server_.kill();
      server_.start();
    }
    return trouble.lasted < 10s;
  }
  void on_recovered() override {}
  /// From another thread. Does nothing to a server that was restarted.
  void kill_once() {
    const std::scoped_lock alone(lock_);
    if (!has_restarted_) server_.program().send(SIGKILL);
  }

 private:
  serving& server_;
  std::mutex lock_;
  bool has_restarted_ = false;
};

TEST(ClientStore, BatchWhoseAnswerIsLostIsUnknown) {
  const serving server;
  const auto place = store_of(server);
  const auto filter = place->create("f", small_spec());
  random_digests random{9};
  const auto first = random.take(10), keys = random.take(50);
  ASSERT_TRUE(add_keys(*filter, first).result);

  cutting_proxy proxy(port_of(server));
  const auto cut = store_through(proxy, "?retry_for=300ms");
  const auto through = cut->open("f", access::write);
  ASSERT_TRUE(check_keys(*through, first).result);
  ASSERT_EQ(tally_of(add_keys(*through, random.take(1))).fresh, 1U) << "which starts a session";
  proxy.cut_for_long_after(direction::to_client, 1);
  const auto got = add_keys(*through, keys);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.verdicts, Each(verdict::unknown));
  EXPECT_THAT(got.result.error().message, HasSubstr("may have added keys without answering"));
  EXPECT_THAT(answered(check_keys(*filter, keys)).verdicts, Each(verdict::seen)) << "it was judged";
}

TEST(ClientStore, RestartedServerIsNotMistakenForOneThatRemembers) {
  const test::scratch_directory files;
  serving server("file:" + files.path().string());
  const auto place = store_of(server);
  const auto filter = place->create("f", small_spec());
  random_digests random{10};
  for (int round = 0; round < 5; ++round) {
    const auto keys = random.take(100);
    ASSERT_EQ(tally_of(add_keys(*filter, keys)).fresh, keys.size());
    server.kill();
    server.start();
    const auto more = random.take(100);
    const auto got = add_keys(*filter, more);
    ASSERT_TRUE(got.result) << got.result.error().message << ": nothing of it was sent before";
    EXPECT_EQ(got.result->fresh, more.size());
    EXPECT_THAT(answered(check_keys(*filter, keys)).verdicts, Each(verdict::seen));
  }
}

// Promise: keys whose answer was lost with the server that remembered it are unknown, never seen (guarantees,
// Crashes).
TEST(ClientStore, KilledServerCausesNoWrongVerdict) {
  const test::scratch_directory files;
  serving server("file:" + files.path().string());
  random_digests random{11};
  for (int round = 0; round < 8; ++round) {
    const auto place = store_of(server);
    const auto filter =
        place->exists("f")
            ? place->open("f", access::write)
            : place->create("f",
                            make_spec({.capacity = 1'000'000, .error_rate = never_wrong, .partitions = 4}));
    const auto restarts = std::make_shared<restarting>(server);
    place->wait_with(restarts);
    const auto keys = random.take(100'000);
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
      restarts->kill_once();
    });
    const auto got = add_keys(*filter, keys);
    killer.join();
    for (const verdict v : got.verdicts)
      ASSERT_NE(v, verdict::seen) << "each key was new: fresh or no answer";
    if (!got.result) {
      EXPECT_EQ(got.result.error().why, batch_failure::cause::backend);
    }
    server.kill();
    server.start();
  }
}

/// Waits for a server that restarts.
class patient final : public retry_policy {
 public:
  bool tries_again(const outage& trouble) override { return trouble.lasted < 20s; }
  void on_recovered() override {}
};

/// Restarts the server while batches are added through `place`, at other moments of each batch.
void expect_no_answer_lost(serving& server, store& place) {
  const auto filter =
      place.create("f", make_spec({.capacity = 1'000'000, .error_rate = never_wrong, .partitions = 4}));
  place.wait_with(std::make_shared<patient>());
  random_digests random{12};
  for (int round = 0; round < 6; ++round) {
    const auto keys = random.take(100'000);
    std::thread restarter([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
      (void)server.stop();
      server.start();
    });
    const auto got = add_keys(*filter, keys);
    restarter.join();
    ASSERT_TRUE(got.result) << got.result.error().message;
    EXPECT_EQ(got.result->fresh, keys.size());
  }
}

// Promise: a server that is stopped in order and started again loses no answer of a batch (operations, As a
// store).
TEST(ClientStore, OrderlyRestartLosesNoAnswer) {
  const test::scratch_directory files;
  serving server("file:" + files.path().string());
  expect_no_answer_lost(server, *store_of(server));
}

TEST(ClientStore, OrderlyRestartOfADistantServerLosesNoAnswer) {
  const test::scratch_directory files;
  const std::uint16_t port = test::free_port();  // the same after a restart
  serving server("file:" + files.path().string(), {"--listen", "127.0.0.1:" + std::to_string(port)});
  cutting_proxy proxy(port);
  proxy.delay(5ms);
  expect_no_answer_lost(server, *store_through(proxy));
}

}  // namespace
}  // namespace everseen::client
