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
#include "test/support/claimed_events.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::cutting_proxy;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Matcher;

using direction = cutting_proxy::direction;
using an_end = std::optional<event_time>;

/// A limit that costs no key of a filter with this end.
Matcher<std::int64_t> is_late_enough(an_end end) {
  if (!end) return -1;
  return AnyOf(-1, Ge((*end + later_than_the_end).time_since_epoch().count() - 1'000));
}
Matcher<std::int64_t> is_right(an_end end) {
  return end ? Matcher<std::int64_t>(is_a_day_after(*end)) : Matcher<std::int64_t>(-1);
}

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
    auto done = std::async(std::launch::async, [url = proxy.url(rest("retry_for=1ms")), end] {
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
  static void let_go(cutting_proxy& proxy, slow_client& client, then what) {
    if (what == then::dies) proxy.cut_for_long_after(direction::to_client, 0);
    proxy.release();
    client.done.get();
    proxy.refuse(false);
  }
  /// As if a client had begun to change the end long ago.
  void backdate_change() {
    const std::string header = header_of(server_, "clicks");
    if (server_.run({"HEXISTS", header, "began"}) == "1") (void)server_.run({"HSET", header, "began", "0"});
  }
  void use_a_job() {
    const auto filter = client();
    const auto job = filter->open_ledger("count", "");
    const std::vector<test::event> events = {{1, keys_.front(), {}, {"all"}}};
    EXPECT_TRUE(test::claim_events(*job, sized(), {"lane", 0}, events).result);
    const std::vector<checkpoint> reached = {{"lane", 1, ""}};
    EXPECT_TRUE(job->settle(reached));
  }
  an_end end_of_clicks() { return store_->facts("clicks").expires_at; }
};

/// The first end is set up to each point; then an undisturbed client sets the second.
TEST_P(LifeRace, EarlierEndThatArrivesLateLimitsNoKeyOfAFilterWithALaterEnd) {
  const an_end soon = now() + 1h, late = now() + 200h;
  unsigned stopped = 0;
  for (const then what : {then::dies, then::continues})
    for (const an_end second : {late, an_end()})
      for (std::size_t bytes = 0;; bytes += 101) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes");
        (void)add_keys(*store_->create("clicks", sized()), std::span(keys_).first(200));
        cutting_proxy proxy(server_.port());
        slow_client first = stopped_after(proxy, bytes, soon);
        if (first.was_stopped) {
          store_->expire_at("clicks", second);
          if (bytes % 2 == 0) use_a_job();
        }
        let_go(proxy, first, what);
        ASSERT_THAT(limits(), Each(is_late_enough(end_of_clicks())));
        backdate_change();
        (void)client();
        ASSERT_THAT(limits(), Each(is_right(end_of_clicks()))) << "once it was opened";
        (void)server_.run({"FLUSHALL"});
        if (!first.was_stopped) break;
        ++stopped;
      }
  EXPECT_GT(stopped, 40u);
}

/// As above, where the filter already has an end, and both clients extend it.
TEST_P(LifeRace, OfTwoExtensionsNeitherLeavesALimitOfTheFirstEnd) {
  const an_end soon = now() + 1h, later = now() + 100h, last = now() + 200h;
  for (const then what : {then::dies, then::continues})
    for (const an_end second : {last, soon, an_end()})
      for (std::size_t bytes = 0;; bytes += 211) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes");
        {
          const auto filter = store_->create("clicks", sized());
          (void)add_keys(*filter, std::span(keys_).first(200));
          store_->expire_at("clicks", soon);
        }
        cutting_proxy proxy(server_.port());
        slow_client first = stopped_after(proxy, bytes, later);
        if (first.was_stopped) store_->expire_at("clicks", second);
        let_go(proxy, first, what);
        ASSERT_THAT(limits(), Each(is_late_enough(end_of_clicks())));
        store_->expire_at("clicks", later);
        ASSERT_THAT(limits(), Each(is_right(later)));
        (void)server_.run({"FLUSHALL"});
        if (!first.was_stopped) break;
      }
}

TEST_P(LifeRace, WorkOfACrashedClientIsLeftAloneForAMinuteAndThenFinished) {
  const an_end soon = now() + 1h;
  unsigned unlimited = 0;
  for (std::size_t bytes = 0;; bytes += 101) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    {
      const auto filter = store_->create("clicks", sized());
      (void)add_keys(*filter, std::span(keys_).first(200));
      store_->expire_at("clicks", soon);
    }
    cutting_proxy proxy(server_.port());
    slow_client first = stopped_after(proxy, bytes, std::nullopt);
    let_go(proxy, first, then::dies);
    const auto before = limits();
    (void)client();
    if (end_of_clicks() == soon) {
      ASSERT_EQ(limits(), before);
      unlimited += before.contains(-1);
    }
    backdate_change();
    (void)client();
    ASSERT_THAT(limits(), Each(is_right(end_of_clicks())));
    (void)server_.run({"FLUSHALL"});
    if (!first.was_stopped) break;
  }
  EXPECT_GT(unlimited, 3u);
}

TEST_P(LifeRace, ManyClientsThatSetEndsConcurrentlyAllSucceed) {
  (void)add_keys(*store_->create("clicks", sized(200, 4)), keys_);
  std::vector<std::future<void>> clients;
  for (int i = 0; i < 6; ++i)
    clients.push_back(std::async(std::launch::async, [this, i] {
      for (int times = 0; times < 10; ++times) {
        store_->expire_at(
            "clicks", times % 3 == 2 ? an_end() : now() + std::chrono::hours(1 + (7 * times + 5 * i) % 11));
      }
    }));
  for (auto& each : clients) EXPECT_NO_THROW(each.get());
  ASSERT_THAT(limits(), Each(is_late_enough(end_of_clicks())));
  backdate_change();
  (void)client();
  EXPECT_THAT(limits(), Each(is_right(end_of_clicks())));
}

TEST_P(LifeRace, HeaderThatItsServerRolledBackIsUpdatedFromTheOtherKeys) {
  (void)add_keys(*store_->create("clicks", sized()), keys_);
  const std::string header = header_of(server_, "clicks");
  for (int i = 1; i < 4; ++i) store_->expire_at("clicks", now() + std::chrono::hours(i));
  for (const char* const round : {"0", "2", "3"}) {
    (void)server_.run({"HSET", header, "round", round});
    (void)server_.run({"HDEL", header, "limits"});
    backdate_change();
    (void)client();
    EXPECT_THAT(limits(), Each(is_right(end_of_clicks()))) << round;
    (void)server_.run({"HSET", header, "round", round});
    store_->expire_at("clicks", std::nullopt);
    EXPECT_THAT(limits(), Each(-1)) << round;
    store_->expire_at("clicks", now() + 1h);
  }
}

// It has read the ends of both filters, and is stopped before it makes them equal.
TEST_P(LifeRace, LateEndFromThePredecessorIsNotAppliedToAnIndependentSuccessor) {
  unsigned stopped = 0;
  for (std::size_t bytes = 0;; bytes += 79) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    (void)add_keys(*store_->create("clicks", sized()), keys_);
    session with(parse_redis_url(server_.url()));
    const filter_directory all("everseen", 1);
    const filter_identity old = all.open(with, "clicks", true);
    const filter_identity next = all.draft(sized(5'000, 3));
    all.prepare(with, next, {}, {.spec = next.spec, .after = old.id, .origin = old.id});
    store_->expire_at("clicks", now() + 1h);  // while the successor was created
    ASSERT_EQ(decide_succession(with, old, next.id), succession::decided);
    cutting_proxy proxy(server_.port());
    slow_client late = stopped_after(proxy, bytes, now() + 50h);
    if (late.was_stopped) {
      (void)client();
      ASSERT_TRUE(forget_before(with, next, old.id, "word"));
      all.finish_removals(with);
      store_->expire_at("clicks", std::nullopt);
    }
    let_go(proxy, late, then::dies);
    if (!late.was_stopped) break;
    ++stopped;
    ASSERT_EQ(end_of_clicks(), std::nullopt);
    ASSERT_THAT(limits(), Each(-1));
    (void)server_.run({"FLUSHALL"});
  }
  EXPECT_GT(stopped, 10u);
}

TEST_P(LifeRace, LateCopiesOfTheCallsOfACreationLimitNoKeyOfTheFilter) {
  const auto filter = store_->create("clicks", sized());
  for (int i = 0; i < 100; ++i) (void)add_keys(*filter, test::random_digests(10 + i).take(1'000));
  std::vector<partition_state> states;
  for (std::uint32_t p = 0; p < sized().partitions; ++p) states.push_back(filter->state(p));
  session with(parse_redis_url(server_.url()));
  try {
    filter_directory("everseen", 1).prepare(with, identity_at(server_, "clicks", sized()), states, {});
  } catch (const storage_error&) {
    // Where clients judge, not all segments are on the server.
  }
  EXPECT_THAT(limits(), Each(-1));
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, LifeRace,
                         testing::Values(judges::clients, judges::scripts, judges::module), name_of_judges);

}  // namespace
}  // namespace everseen::redis
