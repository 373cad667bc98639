// A server is killed twice while it writes its AOF: the effect of the half block, which it runs after the
// restart, on filters that their clients judge.

#include <functional>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::claim_events;
using test::claimed;
using test::counters_of;
using test::event;
using test::random_digests;
using test::text_of;
using test::torn_aof;
using counts = std::map<std::string, std::int64_t>;

class TornJournal : public JudgedByClients {
 protected:
  TornJournal() : JudgedByClients(test::with_aof()) {}

  /// The server is killed anywhere in the write of `torn`; then `rest` of other processes follows.
  void at_each_cut(const std::function<void()>& torn, const std::function<void(torn_aof&)>& rest,
                   std::size_t at_least = 4) {
    torn_aof file(server_);
    const std::size_t from = file.bytes().size();
    torn();
    const std::string all = file.bytes();
    const auto cuts = torn_aof::cuts(all, from);
    ASSERT_GE(cuts.size(), at_least);
    for (const std::size_t cut : cuts) {
      SCOPED_TRACE("cut " + std::to_string(cut - from) + " bytes behind " + std::to_string(from) + " of " +
                   std::to_string(all.size()));
      file.end_with(all, cut);
      rest(file);
      if (HasFatalFailure() || HasFailure()) return;
    }
  }
  /// Another client's block, which closes the open one.
  void close_the_block() {
    (void)server_.run({"EVAL", "redis.call('INCR', 'x') redis.call('INCR', 'x')", "0"});
  }

  std::string claim(const opened_job& job, const std::string& lane, std::span<const event> events) const {
    const claimed got = claim_events(*job, judged_by_clients(request_), {lane, 0}, events);
    return got.result ? text_of(got.verdicts) : got.result.error().message;
  }
  opened_job job() { return opened_job(client()); }
  /// Events of the keys k, l, ... in this order, each counted by all and by its key.
  static std::vector<event> events(std::uint64_t first, const std::vector<std::uint64_t>& keys) {
    std::vector<event> all;
    for (const std::uint64_t key : keys) {
      random_digests draw(key);
      all.push_back({first++, draw(), {}, {"all", "key" + std::to_string(key)}});
    }
    return all;
  }
  static counts each_once(int keys) {
    counts exact{{"all", keys}};
    for (int key = 1; key <= keys; ++key) exact["key" + std::to_string(key)] = 1;
    return exact;
  }

  const spec_request request_{.capacity = 10'000, .error_rate = 1e-12, .partitions = 1};
  random_digests random_{31};
};

TEST_F(TornJournal, AddedKeysAreStoredOrFreshAgainAndOthersFollow) {
  const auto before = make(request_);
  const auto first = random_.take(20);
  const auto torn = random_.take(20);
  const auto later = random_.take(10);
  answered(add_keys(*before, first));
  at_each_cut([&] { answered(add_keys(*before, torn)); },
              [&](torn_aof& file) {
                EXPECT_EQ(fresh_in(add_keys(*client(), first)), 0u);
                const std::uint64_t again = fresh_in(add_keys(*client(), torn));
                EXPECT_EQ(again % 20, 0u) << again;
                EXPECT_EQ(fresh_in(add_keys(*client(), later)), 10u);
                file.crash();
                const auto newcomer = client();
                for (const auto& some : {first, torn, later})
                  EXPECT_EQ(fresh_in(add_keys(*newcomer, some)), 0u);
                EXPECT_EQ(test::keys_in(*newcomer), 50u);
              });
}

TEST_F(TornJournal, ShorterRecordFollowsAHalfBlockThatRunsLater) {
  const auto before = make(request_);
  answered(add_keys(*before, random_.take(20)));
  const auto shorter = random_.take(3);
  at_each_cut([&] { answered(add_keys(*before, random_.take(50))); },
              [&](torn_aof& file) {
                EXPECT_EQ(fresh_in(add_keys(*client(), shorter)), 3u);
                file.crash();
                EXPECT_EQ(fresh_in(add_keys(*client(), shorter)), 0u);
                EXPECT_EQ(fresh_in(add_keys(*client(), random_.take(5))), 5u);
              });
}

TEST_F(TornJournal, RetriedClaimCountsOnce) {
  const opened_job before(make(request_));
  ASSERT_EQ(claim(before, "one", events(0, {1, 2, 3})), "000");
  ASSERT_EQ(claim(before, "two", events(0, {4})), "0");
  const auto torn = events(3, {5, 1, 6, 7, 5});
  at_each_cut([&] { ASSERT_EQ(claim(before, "one", torn), "01001"); },
              [&](torn_aof& file) {
                ASSERT_EQ(claim(job(), "one", torn), "01001");
                file.crash();
                EXPECT_EQ(claim(job(), "one", torn), "01001");
                EXPECT_EQ(claim(job(), "three", torn), "11111");
                EXPECT_EQ(counters_of(*job()), each_once(7));
                EXPECT_EQ(client()->state(0).keys(), 7u);
              },
              8);
}

// Promise: after a torn AOF, a claim and its retry count once (streams, Crashes of servers and machines).
TEST_F(TornJournal, KeyThatAnotherLaneClaimsBeforeTheRetryCountsOnce) {
  const opened_job before(make(request_));
  ASSERT_EQ(claim(before, "one", events(0, {1, 2, 3})), "000");
  ASSERT_EQ(claim(before, "two", events(0, {4})), "0");
  const auto torn = events(3, {5, 1, 6, 7, 5});
  at_each_cut([&] { ASSERT_EQ(claim(before, "one", torn), "01001"); },
              [&](torn_aof& file) {
                const std::string other = claim(job(), "two", events(1, {6, 8}));
                const std::string again = claim(job(), "one", torn);
                ASSERT_EQ(other + again, again == "01001" ? "1001001" : "0001101");
                file.crash();
                EXPECT_EQ(claim(job(), "one", torn), again);
                EXPECT_EQ(claim(job(), "two", events(1, {6, 8})), other);
                EXPECT_EQ(counters_of(*job()), each_once(8));
              },
              8);
}

// Promise: a claim that is retried only after the second crash is whole or not there (streams, Crashes of
// servers and machines).
TEST_F(TornJournal, ClaimRetriedOnlyAfterTheSecondCrashIsCompleteOrAbsent) {
  const opened_job before(make(request_));
  ASSERT_EQ(claim(before, "one", events(0, {1, 2, 3})), "000");
  const auto torn = events(3, {4, 1, 5});
  at_each_cut([&] { ASSERT_EQ(claim(before, "one", torn), "010"); },
              [&](torn_aof& file) {
                close_the_block();
                file.crash();
                EXPECT_EQ(claim(job(), "one", torn), "010");
                EXPECT_EQ(claim(job(), "three", torn), "111");
                EXPECT_EQ(counters_of(*job()), each_once(5));
              },
              8);
}

TEST_F(TornJournal, ForeignBlockThatWasOpenBeforeTakesNoKeyWithIt) {
  const auto before = make(request_);
  const auto first = random_.take(20);
  const auto later = random_.take(20);
  answered(add_keys(*before, first));
  at_each_cut([&] { close_the_block(); },
              [&](torn_aof& file) {
                EXPECT_EQ(fresh_in(add_keys(*client(), later)), 20u);
                file.crash();
                EXPECT_EQ(fresh_in(add_keys(*client(), first)), 0u);
                EXPECT_EQ(fresh_in(add_keys(*client(), later)), 0u);
              });
}

TEST_F(TornJournal, CheckpointIsFinishedOrRestarted) {
  const auto before = make({.capacity = 70'000, .error_rate = 1e-6, .partitions = 1});
  const auto keys = fill_to_the_brink(*before, random_);
  const auto torn = random_.take(100);
  at_each_cut([&] { answered(add_keys(*before, torn)); },
              [&](torn_aof& file) {
                const std::uint64_t again = fresh_in(add_keys(*client(), torn));
                EXPECT_EQ(again % 100, 0u) << again;
                file.crash();
                const auto more = random_.take(100);
                EXPECT_GE(fresh_in(add_keys(*client(), more)), 99u);
                const auto newcomer = client();
                EXPECT_EQ(fresh_in(add_keys(*newcomer, keys)), 0u);
                EXPECT_EQ(fresh_in(add_keys(*newcomer, torn)), 0u);
                EXPECT_EQ(fresh_in(add_keys(*newcomer, more)), 0u);
              },
              16);
}

TEST_F(TornJournal, ResetIsDoneOrNotOrIsDamageThatAnotherResetRepairs) {
  const auto before = make(request_);
  const auto keys = random_.take(200);
  answered(add_keys(*before, keys));
  at_each_cut([&] { store_->reset("clicks"); },
              [&](torn_aof& file) {
                const auto between = random_.take(10);
                EXPECT_EQ(fresh_in(add_keys(*client(), between)), 10u);
                file.crash();
                const auto got = add_keys(*client(), keys);
                if (got.result)
                  EXPECT_EQ(fresh_in(got) % keys.size(), 0u) << fresh_in(got);
                else
                  EXPECT_EQ(got.result.error().why, batch_failure::cause::format);
                store_at(server_.unix_url())->reset("clicks");
                EXPECT_EQ(fresh_in(add_keys(*client(), keys)), keys.size());
              });
}

}  // namespace
}  // namespace everseen::redis
