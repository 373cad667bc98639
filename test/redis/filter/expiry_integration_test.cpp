// When filters on servers expire and are reset, and how their keys are removed then.

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/admin/dying_client.hpp"
#include "test/redis/filter/expiry.hpp"
#include "test/support/claimed_events.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::keys_in;
using test::random_digests;
using test::redis_server;
using test::torn_aof;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Promise: a new end is known to every client within a second (redis, The end of a filter).
TEST_P(Life, EndMovedByAnotherClientIsKnownWithinASecond) {
  const auto filter = store_->create("clicks", sized());
  random_digests random(1);
  EXPECT_FALSE(failure_of_add(*filter, random.take(10)));
  store_->expire_at("clicks", now() + 100ms);
  std::this_thread::sleep_for(1'100ms);
  const auto told = failure_of_add(*filter, random.take(10));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->why, batch_failure::cause::storage);
  EXPECT_THAT(told->message, HasSubstr("has expired"));
}

TEST_P(Life, LaterEndOfAnotherClientIsKnownBeforeTheFirstIsReached) {
  const auto filter = store_->create("clicks", sized(), 3s);
  random_digests random(2);
  EXPECT_FALSE(failure_of_add(*filter, random.take(10)));
  store_->expire_at("clicks", std::nullopt);
  std::this_thread::sleep_for(3'100ms);
  EXPECT_FALSE(failure_of_add(*filter, random.take(10)));
}

// A limit that is too early would lose keys of a filter that got a later end.
TEST_P(Life, NoKeyOfAnExpiringFilterHasATimeLimit) {
  const auto filter = store_->create("clicks", sized(10'000), 1h);
  random_digests random(3);
  // Where clients judge: more than a chunk of the journal, and checkpoints.
  for (int i = 0; i < (GetParam() == judges::clients ? 40 : 3); ++i)
    answered(add_keys(*filter, random.take(20'000)));
  EXPECT_THAT(keys_with_a_limit(), IsEmpty());
  store_->expire_at("clicks", now() + 2h);
  answered(add_keys(*filter, random.take(20'000)));
  EXPECT_THAT(keys_with_a_limit(), IsEmpty());
}

// Promise: using a filter does not put off its end (redis, The end of a filter).
TEST_P(Life, ExpiringFilterReportsItsEndAndUseDoesNotPutItOff) {
  const auto filter = store_->create("clicks", sized(), 1h);
  const auto end = store_->facts("clicks").expires_at;
  ASSERT_TRUE(end);
  EXPECT_LE(*end, now() + 1h);
  EXPECT_GT(*end, now() + 59min);
  ASSERT_TRUE(add_keys(*filter, keys_).result) << "grows";
  ASSERT_TRUE(check_keys(*client(), keys_).result);
  store_->reset("clicks");
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  EXPECT_EQ(store_->facts("clicks").expires_at, end);
}

TEST_P(Life, EndOfAFilterWithJobsIsFixed) {
  const spec s = sized(1'000);
  const auto filter = store_->create("clicks", s, 1h);
  const auto job = filter->open_ledger("count", "");
  random_digests random(4);
  std::vector<test::event> events;
  for (std::uint64_t i = 0; i < 10; ++i) events.push_back({i, random(), {}, {"all"}});
  ASSERT_TRUE(test::claim_events(*job, s, {"lane", 0}, events).result);
  const std::vector<checkpoint> reached = {{"lane", 9, ""}};
  ASSERT_TRUE(job->settle(reached));
  EXPECT_THAT(keys_with_a_limit(), IsEmpty());
  const auto message = [&] { store_->expire_at("clicks", std::nullopt); };
  EXPECT_THAT(message_of<parameter_error>(message), HasSubstr("count"));
}

// Promise: a filter that has ended is not damage, and its name is free (redis, The end of a filter).
TEST_P(Life, EndedFilterIsNotDamageAndItsNameIsFree) {
  const auto filter = store_->create("clicks", sized(), 3s);
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  wait_for_the_end();
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(message_of<filter_expired>([&] { store_->open("clicks", access::write); }),
              AllOf(HasSubstr("'clicks' has expired"), HasSubstr("everseen create clicks")));
  // It knows the end to a millisecond of the server, and may notice it that much later.
  std::optional<batch_failure> failure;
  test::wait_until([&] { return (failure = failure_of_add(*filter, keys_)).has_value(); },
                   "the client notices");
  EXPECT_THAT(failure->message, AllOf(HasSubstr("has expired"), Not(HasSubstr("but a key"))));
  EXPECT_EQ(failure->why, batch_failure::cause::storage);
  const auto again = store_->create("clicks", sized());
  EXPECT_EQ(outcome(add_keys(*again, keys_)), "1000 fresh");
  EXPECT_EQ(store_->facts("clicks").expires_at, std::nullopt);
}

/// A client that has it open knows its end to a millisecond.
TEST_P(Life, ClientOfAnEndedFilterLearnsThatItHasExpiredAlsoOnceItsKeysAreRemoved) {
  const auto filter = store_->create("clicks", sized(), 3s);
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  wait_for_the_end();
  std::this_thread::sleep_for(2ms);
  store_->remove_expired();
  EXPECT_THAT(all_keys(), IsEmpty());
  const auto told = failure_of_add(*filter, keys_);
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, HasSubstr("has expired"));
}

TEST_P(Life, EndedFilterLeavesNoKeyOnceItsNameIsReused) {
  for (const std::string name : {"a", "b", "c"})
    answered(add_keys(*store_->create(name, sized(), 3s), std::span(keys_).first(10)));
  wait_for_the_end();
  (void)store_->create("a", sized());
  (void)store_->create("d", sized());
  store_->rename("d", "b", store::namesake::refuse);
  store_->remove_expired();
  EXPECT_THAT(store_->list(), ElementsAre("a", "b"));
  store_->drop("a");
  store_->drop("b");
  EXPECT_THAT(all_keys(), IsEmpty());
}

// Promise: the next client that opens the store to write removes what has expired (redis, The end of a
// filter).
TEST_P(Life, EndedFiltersAreRemovedByTheNextClientThatOpensTheStoreToWrite) {
  const auto kept = store_->create("kept", sized());
  const auto keys_of_kept = keys_of_filters();
  for (const bool creates : {false, true}) {
    for (const std::string name : {"a", "b", "c"}) {
      answered(add_keys(*store_->create(name, sized(), 1h), std::span(keys_).first(10)));
      let_expire(name);
    }
    const auto before = all_keys();
    (void)store()->open("kept", access::read);
    EXPECT_EQ(all_keys(), before) << "a reader changes nothing";
    const auto next = store();
    creates ? (void)next->create("d", sized()) : (void)next->open("kept", access::write);
    if (creates) store_->drop("d");
    EXPECT_EQ(keys_of_filters(), keys_of_kept);
    EXPECT_EQ(server_.run({"HKEYS", "everseen:{names}"}), "kept");
    EXPECT_EQ(server_.run({"EXISTS", "everseen:{names}:gone"}), "0");
  }
}

// Promise: a removal that crashed at any step is finished by the next client (redis, The end of a filter).
TEST_P(Life, RemovalThatCrashedIsFinishedByTheNextClient) {
  using direction = cutting_proxy::direction;
  cutting_proxy proxy(server_.port());
  (void)store_->create("kept", sized());
  const auto keys_of_kept = keys_of_filters();
  unsigned unfinished = 0;
  for (const direction w : {direction::to_server, direction::to_client})
    for (std::size_t bytes = 0;; bytes += w == direction::to_server ? 257 : 53) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      answered(add_keys(*store_->create("clicks", sized(), 1h), std::span(keys_).first(200)));
      let_expire("clicks");
      (void)die_after(proxy, proxy.url("/?retry_for=1ms"), w, bytes,
                      [](redis_store& in) { (void)in.open("kept", access::write); });
      const bool cut = proxy.has_cut();
      EXPECT_THAT(store_->list(), ElementsAre("kept"));
      unfinished += keys_of_filters() != keys_of_kept;
      (void)store()->open("kept", access::write);
      ASSERT_EQ(keys_of_filters(), keys_of_kept);
      ASSERT_EQ(server_.run({"EXISTS", "everseen:{names}:gone"}), "0");
      if (!cut) break;
    }
  EXPECT_GT(unfinished, 20u);
}

TEST_P(Life, ClientsThatRemoveTheSameFiltersConcurrentlyAllSucceed) {
  for (int i = 0; i < 10; ++i) {
    const std::string name = "f" + std::to_string(i);
    answered(add_keys(*store_->create(name, sized(), 1h), std::span(keys_).first(10)));
    let_expire(name);
  }
  std::vector<std::future<void>> clients;
  for (int i = 0; i < 4; ++i)
    clients.push_back(std::async(std::launch::async, [&] { store()->remove_expired(); }));
  for (auto& each : clients) EXPECT_NO_THROW(each.get());
  EXPECT_THAT(all_keys(), IsEmpty());
}

// Promise: a lost header is damage (redis, The end of a filter).
TEST_P(Life, LostFilterIsDamageAndIsNotRecreated) {
  (void)store_->create("clicks", sized(), 1s);
  wait_for_the_end();
  (void)store_->create("clicks", sized(), 1h);
  server_.run({"DEL", header_of(server_, "clicks")});
  EXPECT_THAT(message_of<format_error>([&] { store_->open("clicks", access::read); }),
              HasSubstr("is missing"));
  EXPECT_THROW(store_->create("clicks", sized()), name_taken);
}

TEST_P(Life, FilterMustLiveForAtLeastASecond) {
  EXPECT_THROW(store_->create("clicks", sized(), 999ms), parameter_error);
  EXPECT_FALSE(store_->exists("clicks"));
}

TEST_P(Life, FilterWorksAfterItsServerIsKilledWhileSettingAnEnd) {
  (void)store_->create("clicks", sized(1'000, 1));
  const auto first = std::span(keys_).first(100);
  answered(add_keys(*client(), first));
  std::optional<event_time> before;
  const event_time end = now() + 1h;
  for (const std::optional<event_time> time : {std::optional(end), std::optional(end + 1h), {}}) {
    torn_aof file(server_);
    const std::size_t from = file.bytes().size();
    store_->expire_at("clicks", time);
    const std::string all = file.bytes();
    for (const std::size_t cut : torn_aof::cuts(all, from)) {
      file.end_with(all, cut);
      EXPECT_EQ(outcome(add_keys(*client(), first)), "100 seen") << cut - from;
      EXPECT_THAT(store_->facts("clicks").expires_at, AnyOf(before, time)) << cut - from;
      store_->expire_at("clicks", time);
      EXPECT_EQ(store_->facts("clicks").expires_at, time);
    }
    file.end_with(all, all.size());
    before = time;
  }
}

// The header loses its time limit last.
TEST_P(Life, CreationThatCrashedLeavesAFilterThatIsFinishedOnceOpenedOrKeysThatExpire) {
  using direction = cutting_proxy::direction;
  cutting_proxy proxy(server_.port());
  unsigned unfinished = 0;
  for (const direction w : {direction::to_server, direction::to_client})
    for (std::size_t bytes = 0;; bytes += w == direction::to_server ? 61 : 7) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      const bool done = die_after(proxy, proxy.url("/?retry_for=1ms"), w, bytes,
                                  [&](redis_store& in) { (void)in.create("clicks", sized(), 1h); });
      const bool cut = proxy.has_cut();
      if (!store_->exists("clicks")) {
        ASSERT_EQ(keys_with_a_limit(), keys_of_filters());
      } else {
        unfinished += !keys_with_a_limit().empty();
        (void)client();
        ASSERT_THAT(keys_with_a_limit(), IsEmpty());
      }
      (void)server_.run({"FLUSHALL"});
      if (done && !cut) break;
    }
  EXPECT_GE(unfinished, 3u);
}

TEST_P(Life, EndedFilterIsRemovedFromAllItsServers) {
  redis_server second(with_judge());
  const std::string url = "redis://" + server_.address() + "," + second.address();
  const auto many = store_at(url);
  answered(add_keys(*many->create("clicks", sized(300, 4), 3s), keys_));
  EXPECT_THAT(keys_of_filters(second), Not(IsEmpty()));
  test::wait_until([&] { return many->list().empty(); }, "the filter ends");
  store_at(url)->remove_expired();
  EXPECT_THAT(keys_of_filters(), IsEmpty());
  EXPECT_THAT(keys_of_filters(second), IsEmpty());
}

// Promise: a filter that is reset while others add works afterwards (redis, Reset).
TEST_P(Life, ResetDuringAddsLeavesAWorkingFilter) {
  const auto filter = store_->create("clicks", sized(200, 4));
  std::atomic<bool> done = false;
  std::vector<std::jthread> others;
  for (std::uint64_t t = 0; t < 3; ++t)
    others.emplace_back([&, t] {
      const auto mine = client();
      for (random_digests source(100 + t); !done;)
        EXPECT_EQ(outcome(add_keys(*mine, source.take(100))), "100 fresh");
    });
  for (int i = 0; i < 30; ++i) store_->reset("clicks");
  done = true;
  others.clear();
  store_->reset("clicks");
  EXPECT_EQ(keys_in(*filter), 0u);
  EXPECT_EQ(outcome(add_keys(*filter, keys_)), "1000 fresh");
  EXPECT_EQ(outcome(check_keys(*filter, keys_)), "1000 seen");
}

TEST_P(Life, ResetLeavesNothingOfEarlierKeysBehind) {
  const auto filter = store_->create("clicks", sized());
  const auto empty = keys_of_filters();
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  if (GetParam() == judges::clients) {
    EXPECT_THAT(keys_of_filters(), SizeIs(Gt(empty.size())));
  }
  store_->reset("clicks");
  EXPECT_EQ(keys_of_filters(), empty);
  EXPECT_EQ(keys_in(*filter), 0u);
}

TEST_P(Life, PartitionsNameTheirServer) {
  redis_server other(with_judge());
  const auto both = store_at("redis://" + server_.address() + "," + other.address());
  const auto filter = both->create("clicks", sized(200, 3));
  for (std::uint32_t p = 0; p < 3; ++p) {
    const bool is_here = filter->path().places.at(p) == server_.address();
    EXPECT_EQ(keys_like(server_, "everseen:{*/" + std::to_string(p) + "}").size(), is_here ? 1u : 0u);
    EXPECT_EQ(filter->path().places.at(p), (is_here ? server_ : other).address());
  }
  EXPECT_NE(filter->path().places.at(0), filter->path().places.at(1));
  EXPECT_EQ(filter->path().places.at(0), filter->path().places.at(2));
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, Life, testing::Values(judges::clients, judges::servers), name_of_judges);

}  // namespace
}  // namespace everseen::redis
