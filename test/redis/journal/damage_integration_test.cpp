// Filters that their clients judge, on servers that are full, read-only, lost keys, or hold foreign bytes: an
// error that names the key, never a wrong verdict, and nothing half done.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/interrupted_operation.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::claim_events;
using test::event;
using test::random_digests;
using test::redis_server;
using test::text_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DamagedJournal : public JudgedByClients {
 protected:
  /// A checkpoint and a journal after it.
  std::shared_ptr<stored_filter> filled() {
    auto filter = make({.capacity = 150'000, .error_rate = 1e-9, .partitions = 1});
    keys_ = fill_to_the_brink(*filter, random_);
    for (const std::size_t n : {100u, 500u}) {
      const auto more = random_.take(n);
      answered(add_keys(*filter, more));
      keys_.insert(keys_.end(), more.begin(), more.end());
    }
    EXPECT_GT(journal_bytes(), 0u);
    return filter;
  }
  void expect_damage_of_a_new_client() {
    const auto told = failure_of_check(*client(), std::span(keys_).first(10));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->why, batch_failure::cause::format);
    EXPECT_THAT(told->message, AllOf(HasSubstr(state_key()), Not(HasSubstr("but a key"))));
  }
  std::string last_chunk() { return keys_like(server_, "everseen:{*/0}:j*").back(); }

  random_digests random_{51};
  std::vector<digest> keys_;
};

TEST_F(DamagedJournal, FullServerRefusesAndContinuesWhenItHasRoom) {
  const auto filter = filled();
  (void)server_.run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  (void)server_.run({"CONFIG", "SET", "maxmemory", "1"});
  const std::string end = field("end");
  const auto more = random_.take(100);
  const auto told = failure_of_add(*filter, more);
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, AllOf(HasSubstr("maxmemory"), Not(HasSubstr("but a key"))));
  EXPECT_EQ(field("end"), end);
  EXPECT_EQ(fresh_in(add_keys(*filter, keys_)), 0u) << "existing keys need no room";
  (void)server_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(fresh_in(add_keys(*filter, more)), 100u);
  EXPECT_EQ(fresh_in(check_keys(*client(), more)), 0u);
}

TEST_F(DamagedJournal, ClaimWithoutRoomIsNotHalfDone) {
  const opened_job job(make({.capacity = 1000, .error_rate = 1e-12, .partitions = 1}));
  const spec& s = job.filter->get_spec();
  std::vector<event> events;
  for (std::uint64_t i = 0; i < 10; ++i) events.push_back({i, random_(), {}, {"all"}});
  (void)server_.run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  (void)server_.run({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = claim_events(*job, s, {"lane", 0}, events);
  ASSERT_FALSE(refused.result);
  EXPECT_EQ(text_of(refused.verdicts), "3333333333");
  (void)server_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(test::counters_of(*job).empty());
  EXPECT_EQ(text_of(claim_events(*job, s, {"lane", 0}, events).verdicts), "0000000000");
  EXPECT_EQ(test::counters_of(*job), (std::map<std::string, std::int64_t>{{"all", 10}}));
}

TEST_F(DamagedJournal, LostSegmentIsDamage) {
  (void)filled();
  (void)server_.run({"DEL", key_like(server_, "everseen:{*/0}:*.0")});
  expect_damage_of_a_new_client();
}

TEST_F(DamagedJournal, ShortenedSegmentIsDamage) {
  (void)filled();
  (void)server_.run({"SET", key_like(server_, "everseen:{*/0}:*.0"), "short"});
  expect_damage_of_a_new_client();
}

TEST_F(DamagedJournal, LostChunkIsDamageForOldAndNewClients) {
  const auto filter = filled();
  (void)server_.run({"DEL", last_chunk()});
  expect_damage_of_a_new_client();
  const auto told = failure_of_add(*filter, random_.take(10));
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, AllOf(HasSubstr(state_key()), Not(HasSubstr("but a key"))));
}

// It restarts, or a replica takes over, and the state that was read first names an end that is gone.
TEST_F(DamagedJournal, EndThatAServerLosesDuringALoadIsNoDamage) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  std::vector<std::string> ends;
  for (const std::string saved : {"shorter", "longer"}) {
    answered(add_keys(*filter, random_.take(100)));
    (void)server_.run({"COPY", last_chunk(), saved});
    ends.push_back(field("end"));
  }
  const auto go_to = [&](const std::string& saved, const std::string& end) {
    (void)server_.run({"COPY", saved, last_chunk(), "REPLACE"});
    (void)server_.run({"HSET", state_key(), "end", end});
  };
  test::hold_everywhere(server_.port(), {.open = [&](const auto& proxy) { return store_at(proxy.url()); },
                                         .prepare = [&] { go_to("longer", ends[1]); },
                                         .run =
                                             [](everseen::store& in) {
                                               const auto opened = in.open(in.list().front(), access::read);
                                               const auto asked =
                                                   check_keys(*opened, random_digests(1).take(9));
                                               if (!asked.result) asked.result.error().raise();
                                             },
                                         .meanwhile = [&] { go_to("shorter", ends[0]); },
                                         .check = [](bool is_answered) { EXPECT_TRUE(is_answered); }});
}

TEST_F(DamagedJournal, ForeignBytesInAChunkAreDamage) {
  (void)filled();
  const std::string chunk = last_chunk();
  const std::string place = std::to_string(std::stoull(server_.run({"STRLEN", chunk})) - 100);
  (void)server_.run({"SETRANGE", chunk, place, "foreign"});
  expect_damage_of_a_new_client();
}

TEST_F(DamagedJournal, ForeignStateIsDamage) {
  (void)filled();
  for (const std::string name : {"begin", "end", "manifest", "counts", "next"}) {
    const std::string kept = field(name);
    for (const std::string& foreign : {std::string("x"), kept + "0"}) {
      SCOPED_TRACE(name);
      (void)server_.run({"HSET", state_key(), name, foreign});
      expect_damage_of_a_new_client();
    }
    (void)server_.run({"HSET", state_key(), name, kept});
  }
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
}

TEST_F(DamagedJournal, ResetRepairsDamage) {
  (void)filled();
  (void)server_.run({"HSET", state_key(), "manifest", "x"});
  (void)server_.run({"HSET", state_key(), "begin", "99999999999:0123456789abcdef"});
  expect_damage_of_a_new_client();
  store_->reset("clicks");
  EXPECT_EQ(fresh_in(add_keys(*client(), std::span(keys_).first(100))), 100u);
}

TEST_F(DamagedJournal, KeysOfAnotherTypeAreDamage) {
  (void)filled();
  for (const std::string& key : {last_chunk(), key_like(server_, "everseen:{*/0}:*.0")}) {
    (void)server_.run({"DEL", key});
    (void)server_.run({"HSET", key, "a", "b"});
    const auto told = failure_of_check(*client(), std::span(keys_).first(10));
    ASSERT_TRUE(told);
    EXPECT_THAT(told->message, HasSubstr(key));
  }
}

TEST_F(DamagedJournal, FlushedServerReportsThatTheFilterIsGone) {
  const auto filter = filled();
  const opened_job job(client());
  (void)server_.run({"FLUSHALL"});
  for (const auto& told : {failure_of_add(*filter, random_.take(10)), failure_of_check(*filter, keys_)}) {
    ASSERT_TRUE(told);
    EXPECT_THAT(told->message, AllOf(HasSubstr("gone"), Not(HasSubstr("but a key"))));
  }
  const std::vector<event> events = {{0, random_(), {}, {"all"}}};
  EXPECT_FALSE(claim_events(*job, filter->get_spec(), {"lane", 0}, events).result);
  EXPECT_EQ(server_.run({"DBSIZE"}), "0") << "nothing is written to a missing filter";
}

TEST_F(DamagedJournal, LostJobIsReportedToClaimers) {
  const opened_job job(make({.capacity = 1000, .error_rate = 1e-12, .partitions = 1}));
  const spec& s = job.filter->get_spec();
  std::vector<event> events = {{0, random_(), {}, {"all"}}};
  EXPECT_EQ(text_of(claim_events(*job, s, {"lane", 0}, events).verdicts), "0");
  store_->end_job("clicks", "count");
  events[0] = {1, random_(), {}, {"all"}};
  const auto got = claim_events(*job, s, {"lane", 0}, events);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("count"));
  EXPECT_EQ(fresh_in(add_keys(*job.filter, std::vector{events[0].key})), 1u) << "nothing was added";
}

TEST_F(DamagedJournal, ServerThatForgetsScriptsReceivesThemAgain) {
  const auto filter = make({.capacity = 200'000, .error_rate = 1e-9, .partitions = 1});
  const opened_job job(client());
  std::uint64_t position = 0;
  for (int i = 0; i < 4; ++i) {
    (void)server_.run({"SCRIPT", "FLUSH"});
    EXPECT_EQ(fresh_in(add_keys(*filter, random_.take(48'000))), 48'000u);
    (void)server_.run({"SCRIPT", "FLUSH"});
    const std::vector<event> events = {{position++, random_(), {}, {"all"}}};
    EXPECT_EQ(text_of(claim_events(*job, filter->get_spec(), {"lane", 0}, events).verdicts), "0");
  }
  EXPECT_NE(field("begin"), to_text(journal_position{}));
}

TEST_F(DamagedJournal, ReadOnlyReplicaRefusesToAdd) {
  const auto filter = filled();
  (void)server_.run({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
  redis_server replica({"--replicaof", "127.0.0.1 " + std::to_string(server_.port())});
  test::wait_until(
      [&] {
        return replica.run({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
      },
      "the replica is linked");
  const auto there = store_at(replica.unix_url("?retry_for=0s"))->open("clicks", access::write);
  EXPECT_EQ(fresh_in(check_keys(*there, keys_)), 0u);
  const auto told = failure_of_add(*there, random_.take(10));
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, Not(HasSubstr("but a key")));
}

}  // namespace
}  // namespace everseen::redis
