// When filters that their clients judge end, and what then becomes of their keys.

#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/error.hpp"

#include "test/redis/stored.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::random_digests;
using test::redis_server;
using test::torn_aof;
using test::with_aof;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;

constexpr auto a_day = 24h;

event_time now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

class LifeJudgedByClients : public testing::Test {
 protected:
  static spec spec_of(spec_request request) {
    request.seed = hash_seed{};
    request.error_rate = 1e-9;
    request.judge = judge_kind::client;
    return make_spec(request);
  }
  /// A client of its own, as another process would be.
  std::shared_ptr<stored_filter> client(const std::string& name = "clicks") {
    return store_at(server_.unix_url())->open(name, access::write);
  }
  /// By key, but for the header and what is under no filter's id: for how many ms it lives on; -1: for ever.
  std::vector<std::int64_t> lives() {
    std::vector<std::int64_t> all;
    for (const std::string& key : keys_like(server_, "everseen:{????????????????????????????????*}*"))
      if (server_.run({"HEXISTS", key, "spec"}) != "1") all.push_back(std::stoll(server_.run({"PTTL", key})));
    return all;
  }
  std::string header() {
    for (const std::string& key : keys_like(server_, "everseen:{*}"))
      if (server_.run({"HEXISTS", key, "spec"}) == "1") return key;
    return "there is no header";
  }

  redis_server server_{with_aof()};
  std::shared_ptr<redis_store> store_ = store_at(server_.unix_url());
};

TEST_F(LifeJudgedByClients, EndThatAnotherClientHasMovedIsKnownWithinASecond) {
  const auto filter = store_->create("clicks", spec_of({.capacity = 1'000}));
  random_digests random(1);
  EXPECT_FALSE(failure_of_add(*filter, random.take(10)));
  client()->end_at(now() + 100ms);
  std::this_thread::sleep_for(1'100ms);
  const auto told = failure_of_add(*filter, random.take(10));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->why, batch_failure::cause::storage);
  EXPECT_THAT(told->message, HasSubstr("has ended, as it was told to"));
}

TEST_F(LifeJudgedByClients, LaterEndOfAnotherClientIsKnownBeforeTheFirstHasCome) {
  const auto filter = store_->create_expiring("clicks", spec_of({.capacity = 1'000}), 1s);
  random_digests random(2);
  EXPECT_FALSE(failure_of_add(*filter, random.take(10)));
  client()->end_at(std::nullopt);
  std::this_thread::sleep_for(1'100ms);
  EXPECT_FALSE(failure_of_add(*filter, random.take(10)));
}

TEST_F(LifeJudgedByClients, KeysHaveALimitADayAfterTheEndAlsoThoseMadeLater) {
  const auto filter = store_->create("clicks", spec_of({.capacity = 100'000, .partitions = 2}));
  random_digests random(3);
  (void)add_keys(*filter, random.take(20'000));
  EXPECT_THAT(lives(), Each(-1));
  const event_time end = now() + 1h;
  client()->end_at(end);
  const std::size_t before = lives().size();
  // More than a chunk of the journal, and checkpoints.
  for (int i = 0; i < 40; ++i) (void)add_keys(*filter, random.take(20'000));
  (void)filter->open_ledger("count", "");
  EXPECT_GT(lives().size(), before);
  const std::int64_t most = std::chrono::milliseconds(1h + a_day).count();
  EXPECT_THAT(lives(), Each(AllOf(Ge(most - 600'000), Le(most))));
  EXPECT_EQ(server_.run({"PTTL", header()}), "-1") << "an ended filter is told from a damaged one";
}

TEST_F(LifeJudgedByClients, KeysOfAJobHaveThatLimit) {
  const spec s = spec_of({.capacity = 1'000, .partitions = 2});
  const auto filter = store_->create_expiring("clicks", s, 1h);
  const auto job = filter->open_ledger("count", "");
  random_digests random(4);
  std::vector<test::event> events;
  for (std::uint64_t i = 0; i < 10; ++i) events.push_back({i, random(), {}, {"all"}});
  ASSERT_TRUE(test::claim_events(*job, s, {"lane", 0}, events).result);
  const std::vector<checkpoint> reached = {{"lane", 9, ""}};
  ASSERT_TRUE(job->settle(reached));
  EXPECT_THAT(lives(), Each(Ge(std::chrono::milliseconds(a_day).count())));
  const auto message = [&] { filter->end_at(std::nullopt); };
  EXPECT_THAT(message_of<parameter_error>(message), HasSubstr("count"));
}

TEST_F(LifeJudgedByClients, EndedFilterLeavesNoKeyOnceItsNameIsNeeded) {
  for (const std::string name : {"a", "b", "c"})
    (void)add_keys(*store_->create_expiring(name, spec_of({.capacity = 1'000}), 1s),
                   random_digests(5).take(10));
  while (!store_->list().empty()) std::this_thread::sleep_for(10ms);
  EXPECT_THROW((void)store_->open("a", access::read), filter_ended);
  (void)store_->create("a", spec_of({.capacity = 1'000}));
  (void)store_->create("d", spec_of({.capacity = 1'000}));
  store_->rename("d", "b", store::namesake::refuse);
  store_->remove_ended();
  EXPECT_THAT(store_->list(), ElementsAre("a", "b"));
  store_->drop("a");
  store_->drop("b");
  EXPECT_THAT(keys_like(server_, "*"), IsEmpty());
}

TEST_F(LifeJudgedByClients, OfAServerKilledWhileAnEndIsGivenTheFilterWorks) {
  (void)store_->create("clicks", spec_of({.capacity = 1'000, .partitions = 1}));
  random_digests random(6);
  const auto first = random.take(100);
  (void)add_keys(*client(), first);
  const event_time end = now() + 1h;
  for (const std::optional<event_time> to : {std::optional(end), std::optional(end + 1h), {}}) {
    torn_aof file(server_);
    const std::size_t from = file.bytes().size();
    client()->end_at(to);
    const std::string all = file.bytes();
    for (const std::size_t cut : torn_aof::cuts(all, from)) {
      file.end_with(all, cut);
      const auto found = client();
      EXPECT_EQ(outcome(add_keys(*found, first)), "100 seen") << cut - from;
      const auto ends = found->ends_at();
      // Too late a limit is one that the next end puts right; too early a one would be a loss.
      const std::int64_t least = std::chrono::milliseconds(a_day).count();
      EXPECT_THAT(lives(), Each(ends ? testing::Matcher<std::int64_t>(AnyOf(-1, Ge(least)))
                                     : testing::Matcher<std::int64_t>(-1)))
          << cut - from;
      found->end_at(to);
      EXPECT_EQ(found->ends_at(), to);
    }
    file.end_with(all, all.size());
  }
}

}  // namespace
}  // namespace everseen::redis
