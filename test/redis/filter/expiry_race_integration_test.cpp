// Several clients set the end of one filter concurrently; some crash or are late.

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/admin/filter_directory.hpp"

#include "test/redis/filter/expiry.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::cutting_proxy;
using ::testing::IsEmpty;

using direction = cutting_proxy::direction;
using an_end = std::optional<event_time>;

class LifeRace : public Life {
 protected:
  /// The data that a stopped client has sent reaches the server later.
  enum class then : std::uint8_t { dies, continues };

  struct slow_client {
    std::future<void> done;
    bool was_stopped;
  };
  /// A client that sets an end for `clicks`, and is stopped after this many sent bytes.
  slow_client stopped_after(cutting_proxy& proxy, std::size_t bytes, an_end end) {
    proxy.hold_after(direction::to_server, bytes);
    auto done = std::async(std::launch::async, [url = proxy.url("/?retry_for=1ms"), end] {
      try {
        store_at(url)->expire_at("clicks", end);
      } catch (const error&) {
        // It crashed, or another client was faster.
      }
    });
    test::wait_until([&] { return proxy.holds() || done.wait_for(0s) == std::future_status::ready; },
                     "the client is stopped, or done");
    const bool was_stopped = proxy.holds();
    return {std::move(done), was_stopped};
  }
  static void let_go(cutting_proxy& proxy, slow_client& client, then step) {
    if (step == then::dies) proxy.cut_for_long_after(direction::to_client, 0);
    proxy.release();
    client.done.get();
    proxy.refuse(false);
  }
  an_end end_of_clicks() { return store_->facts("clicks").expires_at; }
};

/// The first end is set up to each point; then an undisturbed client sets the second.
TEST_P(LifeRace, CallOfAClientThatDiedDoesNotUndoALaterChangeWhenItArrives) {
  const an_end soon = now() + 1h, late = now() + 200h;
  unsigned stopped = 0;
  for (const then step : {then::dies, then::continues})
    for (const an_end second : {late, an_end()})
      for (std::size_t bytes = 0;; bytes += 101) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes");
        answered(add_keys(*store_->create("clicks", sized()), std::span(keys_).first(200)));
        cutting_proxy proxy(server_.port());
        slow_client first = stopped_after(proxy, bytes, soon);
        if (first.was_stopped) store_->expire_at("clicks", second);
        let_go(proxy, first, step);
        ASSERT_EQ(end_of_clicks(), first.was_stopped && step == then::dies ? second : soon);
        (void)server_.run({"FLUSHALL"});
        if (!first.was_stopped) break;
        ++stopped;
      }
  EXPECT_GT(stopped, 20u);
}

TEST_P(LifeRace, ManyClientsThatSetEndsConcurrentlyAllSucceed) {
  answered(add_keys(*store_->create("clicks", sized(200, 4)), keys_));
  std::vector<std::future<void>> clients;
  for (int i = 0; i < 6; ++i)
    clients.push_back(std::async(std::launch::async, [this, i] {
      for (int times = 0; times < 10; ++times) {
        store_->expire_at(
            "clicks", times % 3 == 2 ? an_end() : now() + std::chrono::hours(1 + (7 * times + 5 * i) % 11));
      }
    }));
  for (auto& each : clients) EXPECT_NO_THROW(each.get());
  const an_end last = now() + 1h;
  store_->expire_at("clicks", last);
  EXPECT_EQ(end_of_clicks(), last);
}

// It has read the ends of both filters, and is stopped before it makes them equal.
TEST_P(LifeRace, LateEndFromThePredecessorIsNotAppliedToAnIndependentSuccessor) {
  unsigned stopped = 0;
  for (std::size_t bytes = 0;; bytes += 79) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    answered(add_keys(*store_->create("clicks", sized()), keys_));
    server_connections connections(parse_redis_url(server_.url()));
    const filter_directory all("everseen", 1);
    const filter_identity old = all.open(connections, "clicks", true);
    const filter_identity next = all.draft(sized(5'000, 3));
    all.prepare(connections, next, {}, {.spec = next.spec, .after = old.id, .origin = old.id});
    store_->expire_at("clicks", now() + 1h);  // while the successor was created
    ASSERT_EQ(decide_succession(connections, old, next.id), succession::decided);
    cutting_proxy proxy(server_.port());
    slow_client late = stopped_after(proxy, bytes, now() + 50h);
    if (late.was_stopped) {
      (void)client();
      ASSERT_TRUE(forget_before(connections, next, old.id, "word"));
      all.removal().finish(connections);
      store_->expire_at("clicks", std::nullopt);
    }
    let_go(proxy, late, then::dies);
    if (!late.was_stopped) break;
    ++stopped;
    ASSERT_EQ(end_of_clicks(), std::nullopt);
    ASSERT_THAT(keys_with_a_limit(), IsEmpty());
    (void)server_.run({"FLUSHALL"});
  }
  EXPECT_GT(stopped, 10u);
}

TEST_P(LifeRace, LateCopiesOfTheCallsOfACreationLimitNoKeyOfTheFilter) {
  const auto filter = store_->create("clicks", sized());
  for (int i = 0; i < 100; ++i) answered(add_keys(*filter, test::random_digests(10 + i).take(1'000)));
  std::vector<partition_state> states;
  for (std::uint32_t p = 0; p < sized().partitions; ++p) states.push_back(filter->state(p));
  server_connections connections(parse_redis_url(server_.url()));
  try {
    filter_directory("everseen", 1).prepare(connections, identity_at(server_, "clicks", sized()), states, {});
  } catch (const storage_error&) {
    // Where clients judge, not all segments are on the server.
  }
  EXPECT_THAT(keys_with_a_limit(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, LifeRace, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

}  // namespace
}  // namespace everseen::redis
