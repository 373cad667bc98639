// Warnings about the servers of a store, and waiting for their replicas.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/redis/judges.hpp"
#include "test/support/claimed_events.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;
using cause = batch_failure::cause;

// Promise: create and info warn of servers that may forget keys (redis, Durability and eviction).
TEST(StoreOnServers, WarnsOfRiskyConfigurations) {
  const redis_server server;
  const auto store = store_at(server.url());
  server.run({"CONFIG", "SET", "appendonly", "yes"});
  EXPECT_THAT(store->warnings(store::concern::keys), IsEmpty());
  server.run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  EXPECT_THAT(store->warnings(store::concern::keys),
              ElementsAre(AllOf(HasSubstr(server.address()), HasSubstr("allkeys-lru"))));
  redis_server::options o;
  o.config = {"--replicaof", "127.0.0.1", std::to_string(server.port()), "--appendonly", "yes"};
  const redis_server replica(o);
  EXPECT_THAT(store_at(replica.url())->warnings(store::concern::keys),
              ElementsAre(HasSubstr("is a replica of")));
  const redis_server forgetful;
  EXPECT_THAT(store_at(forgetful.url())->warnings(store::concern::keys),
              ElementsAre(HasSubstr("keeps nothing on disk")));
}

/// A server with one replica.
class Replicated : public JudgedBy {
 protected:
  Replicated() {
    server_.run({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    redis_server::options o;
    o.config = with_judge({"--replicaof", "127.0.0.1", std::to_string(server_.port())});
    replica_ = std::make_unique<redis_server>(o);
    // After the first copy a replica gets nothing for up to a second, although it appears in sync.
    test::wait_until(
        [&] {
          return server_.run({"INFO", "replication"}).find("state=online") != std::string::npos;
        },
        "the replica has the first copy");
    server_.run({"SET", "beat", "1"});
    test::wait_until([&] { return replica_->run({"GET", "beat"}) == "1"; }, "the replica is in step");
  }

  spec sized(std::uint32_t partitions = 2) const {
    return spec_of({.capacity = 200, .error_rate = 1e-9, .partitions = partitions});
  }
  /// Of a filter with siblings.
  spec seeded() const {
    spec s = spec_of({.capacity = 2'000, .error_rate = 1e-9, .partitions = 4});
    s.seed = hash_seed{1, 2, 3};
    return s;
  }
  std::shared_ptr<stored_filter> waiting_for(int replicas, const std::string& retry = "100ms") const {
    return store("timeout=3s&retry_for=" + retry + "&wait=" + std::to_string(replicas))
        ->open("clicks", access::write);
  }
  /// How many of the given keys are in the filter, for any client.
  std::string held(std::span<const digest> keys) const {
    return outcome(check_keys(*client("clicks", access::read), keys));
  }
  std::string held_by_the_replica(std::span<const digest> keys) const {
    return outcome(check_keys(*store_at(replica_->url())->open("clicks", access::read), keys));
  }

  /// Merges a sibling with these keys.
  static void merge(std::shared_ptr<stored_filter> into, std::span<const digest> keys) {
    filter all("clicks", std::move(into));
    const filter sibling("sibling", memory_store().create("sibling", all.sibling_spec()));
    ASSERT_TRUE(add_keys(sibling.stored(), keys).result);
    all.merge(std::span(&sibling, 1));
  }

  std::unique_ptr<redis_server> replica_;
  std::vector<digest> keys_ = random_digests(1).take(1'000);
};

// Promise: an acknowledged batch is on the replica (redis, Replicas).
TEST_P(Replicated, AcknowledgedBatchIsOnTheReplica) {
  const auto filter = store("wait=1")->create("clicks", sized(4));
  for (std::size_t from = 0; from < keys_.size(); from += 100) {
    const auto some = std::span(keys_).subspan(from, 100);
    ASSERT_EQ(outcome(add_keys(*filter, some)), "100 fresh");
    server_.pause();  // the replica receives nothing more
    EXPECT_EQ(held_by_the_replica(some), "100 seen");
    server_.resume();
  }
}

// Promise: a batch that the replicas get within retry_for is acknowledged (redis, Replicas).
TEST_P(Replicated, BatchThatReachesTheReplicaInTimeIsAcknowledged) {
  const auto filter = store("wait=1&timeout=500ms")->create("clicks", sized(4));
  ASSERT_EQ(outcome(add_keys(*filter, std::span(keys_).first(10))), "10 fresh");
  server_.run({"CONFIG", "RESETSTAT"});
  replica_->pause();
  auto held = std::async(std::launch::async,
                         [&] { return outcome(add_keys(*filter, std::span(keys_).subspan(10, 90))); });
  test::wait_until(
      [&] {
        return server_.run({"INFO", "commandstats"}).find("cmdstat_wait:calls=2") != std::string::npos;
      },
      "a WAIT has found no replica, and is asked again");
  replica_->resume();
  EXPECT_EQ(held.get(), "90 fresh");
}

TEST_P(Replicated, AllPartitionsOfABatchWaitTogether) {
  const auto filter = store("wait=1")->create("clicks", sized(64));
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "1000 fresh");
  server_.run({"CONFIG", "RESETSTAT"});
  ASSERT_EQ(outcome(add_keys(*filter, random_digests(4).take(1000))), "1000 fresh");
  // One after the batch; and one before it, if the first is long ago.
  EXPECT_THAT(server_.run({"INFO", "commandstats"}), ContainsRegex("cmdstat_wait:calls=[12],"));
}

// Promise: a batch that too few replicas have is not acknowledged (redis, Replicas).
TEST_P(Replicated, BatchThatTooFewReplicasHaveIsNotAcknowledged) {
  const auto two = store("wait=2&timeout=3s&retry_for=100ms");
  (void)store_->create("clicks", sized());
  const auto failure = failure_of_add(*two->open("clicks", access::write), keys_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message,
              AllOf(HasSubstr("only 1 of the 2 replicas"), HasSubstr("wait="), Not(HasSubstr("but a key"))));
  EXPECT_EQ(failure->why, cause::backend);

  const auto one = waiting_for(1);
  replica_->pause();
  EXPECT_THAT(failure_of_add(*one, random_digests(2).take(10))->message, HasSubstr("only 0 of the 1"));
  replica_->resume();
  EXPECT_EQ(outcome(add_keys(*waiting_for(1, "10s"), random_digests(3).take(10))), "10 fresh");
}

// Promise: where replicas are missing nothing is added (redis, Replicas).
TEST_P(Replicated, NothingIsAddedThatCannotBeAcknowledged) {
  (void)store_->create("clicks", sized());
  const auto failure = failure_of_add(*waiting_for(2), keys_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("only 1 of the 2 replicas"), HasSubstr("nothing was added"),
                                      Not(HasSubstr("but a key"))));
  EXPECT_EQ(held(keys_), "1000 fresh");
}

// Promise: where replicas are missing nothing is added (redis, Replicas).
TEST_P(Replicated, NothingMoreIsAddedAfterAnUnacknowledgedBatch) {
  (void)store_->create("clicks", sized());
  const auto filter = waiting_for(1);
  ASSERT_EQ(outcome(add_keys(*filter, std::span(keys_).first(10))), "10 fresh");
  replica_->pause();
  const auto unlucky = std::span(keys_).subspan(10, 10);
  EXPECT_THAT(failure_of_add(*filter, unlucky)->message, HasSubstr("only 0 of the 1"));
  const auto later = std::span(keys_).subspan(20, 10);
  EXPECT_THAT(failure_of_add(*filter, later)->message,
              AllOf(HasSubstr("only 0 of the 1"), HasSubstr("nothing was added")));
  EXPECT_EQ(held(later), "10 fresh");
  replica_->resume();
  EXPECT_EQ(outcome(add_keys(*waiting_for(1, "10s"), later)), "10 fresh");
}

// Promise: an acknowledged merge is on the replica (redis, Replicas).
TEST_P(Replicated, MergeIsOnTheReplica) {
  (void)store_->create("clicks", seeded());
  ASSERT_EQ(outcome(add_keys(*client(), std::span(keys_).first(10))), "10 fresh");
  for (std::size_t from = 100; from < keys_.size(); from += 100) {
    const auto some = std::span(keys_).subspan(from, 100);
    merge(store("wait=1")->open("clicks", access::write), some);
    server_.pause();  // the replica receives nothing more
    EXPECT_EQ(held_by_the_replica(some), "100 seen");
    server_.resume();
  }
}

// Promise: too few replicas are an outage (redis, Replicas).
TEST_P(Replicated, MergeThatTooFewReplicasHaveFailsAndMergingAgainCompletesIt) {
  (void)store_->create("clicks", seeded());
  const auto filter = waiting_for(1);
  ASSERT_EQ(outcome(add_keys(*filter, std::span(keys_).first(10))), "10 fresh");
  replica_->pause();
  EXPECT_THAT([&] { merge(filter, keys_); },
              ThrowsMessage<backend_error>(HasSubstr("only 0 of the 1 replicas")));
  replica_->resume();
  merge(waiting_for(1, "10s"), keys_);
  server_.pause();
  EXPECT_EQ(held_by_the_replica(keys_), "1000 seen");
  server_.resume();
}

// Promise: a merge is acknowledged once the replicas have its keys, whichever client added them (redis,
// Replicas).
TEST_P(Replicated, MergeOfKeysOfOthersWaitsForTheReplica) {
  (void)store_->create("clicks", seeded());
  const auto waiting = waiting_for(1);
  replica_->pause();
  merge(client(), keys_);
  EXPECT_THAT([&] { merge(waiting, keys_); },
              ThrowsMessage<backend_error>(HasSubstr("only 0 of the 1 replicas")));
  replica_->resume();
  merge(waiting_for(1, "10s"), keys_);
}

// Promise: a seen key is acknowledged once the replicas have it, whichever client added it (redis, Replicas).
TEST_P(Replicated, KeysOfOthersAreAcknowledgedOnceTheReplicaHasThem) {
  (void)store_->create("clicks", sized());
  const auto others = client();
  const auto busy = waiting_for(1), idle = waiting_for(1);
  ASSERT_EQ(outcome(add_keys(*busy, std::span(keys_).first(10))), "10 fresh");
  replica_->pause();
  const auto unreplicated = std::span(keys_).subspan(10, 90);
  ASSERT_EQ(outcome(add_keys(*others, unreplicated)), "90 fresh");
  for (int i = 0; i < 2; ++i)
    for (const auto& filter : {busy, idle}) {
      const auto failure = failure_of_add(*filter, unreplicated);
      ASSERT_TRUE(failure) << i;
      EXPECT_THAT(failure->message, HasSubstr("only 0 of the 1"));
      EXPECT_EQ(failure->done.seen, 0u);
    }
  replica_->resume();
  EXPECT_EQ(outcome(add_keys(*waiting_for(1, "10s"), unreplicated)), "90 seen");
  server_.pause();
  EXPECT_EQ(held_by_the_replica(unreplicated), "90 seen");
  server_.resume();
}

// Promise: a replayed claim is answered once the replicas have it, whichever client made it (streams, Crashes
// of servers and machines).
TEST_P(Replicated, ClaimsOfOthersAreAcknowledgedOnceTheReplicaHasThem) {
  (void)store_->create("clicks", sized());
  const auto waiting = waiting_for(1);
  const auto job = waiting->open_ledger("count", "");
  random_digests source(5);
  const auto events = test::new_events(source, 0, 20);
  const auto claim = [&](ledger& worker) {
    return test::claim_events(worker, waiting->get_spec(), {"lane", 0}, events);
  };
  replica_->pause();
  const auto others = client();
  ASSERT_TRUE(claim(*others->open_ledger("count", "")).result);
  for (int i = 0; i < 2; ++i) {
    const auto got = claim(*job);
    ASSERT_FALSE(got.result) << i;
    EXPECT_THAT(got.result.error().message, HasSubstr("only 0 of the 1"));
    EXPECT_THAT(got.verdicts, Each(verdict::unknown));
  }
  replica_->resume();
  const auto patient = waiting_for(1, "10s");
  const auto got = claim(*patient->open_ledger("count", ""));
  ASSERT_TRUE(got.result);
  EXPECT_THAT(got.before, Each(1));
}

// Servers since 7.2 let a WAIT wait for writes of its own connection alone. But a step that is done again,
// over another connection or by another process, writes nothing. Promise: an acknowledged batch is on the
// replica (redis, Replicas).
TEST_P(Replicated, WhatAnotherConnectionWroteIsAcknowledgedOnceTheReplicaHasIt) {
  (void)store_->create("clicks", sized());
  (void)store_->create("views", sized());
  server_connections others(parse_redis_url(server_.url()));
  const filter_directory all("everseen", 1);
  const filter_identity old = all.open(others, "clicks", true);
  const filter_identity with_jobs = all.open(others, "views", true);
  const filter_identity next = all.draft(sized());
  all.prepare(others, next, {},
              {.spec = next.spec, .after = old.id, .origin = read_filter_header(others, old)->origin});
  ASSERT_EQ(decide_succession(others, old, next.id), succession::decided);
  const script set = make_remembered_script("redis.call('SET', KEYS[1], '1') return 'K'");
  script_call remembered_one = remembered(others, {&set, {"{a}", 0}, {"{a}"}});
  remembered_one.on_replicas = true;
  const job_list jobs("views", with_jobs);
  const std::vector<checkpoint> reached = {{"lane", 1, ""}};
  request beat{{"{b}", 0}, encode({"SET", "{b}", "1"}), 1, true};
  beat.on_replicas = true;
  using step = std::function<void(server_connections&)>;
  const std::vector<std::pair<const char*, step>> steps = {
      {"a remembered change",
       [&](server_connections& c) { EXPECT_EQ(run_script(c, remembered_one).text(), "K"); }},
      {"the new name",
       [&](server_connections& c) { EXPECT_EQ(put_in_place(c, old, next.id), placing::done); }},
      {"the seal", [&](server_connections& c) { EXPECT_TRUE(seal(c, old, next.id)); }},
      {"the end", [&](server_connections& c) { EXPECT_TRUE(forget_before(c, next, old.id, "word")); }},
      {"a filter that is kept", [&](server_connections& c) { make_permanent(c, next); }},
      {"a job", [&](server_connections& c) { EXPECT_TRUE(jobs.open(c, "count", "")); }},
      {"a checkpoint",
       [&](server_connections& c) { EXPECT_TRUE(jobs.settle(c, "count", *jobs.find(c, "count"), reached)); }},
  };
  for (const auto& [name, run] : steps) {
    SCOPED_TRACE(name);
    // In step with its replica a moment ago: it sends before it asks again.
    server_connections waiting(parse_redis_url(server_.url() + "?wait=1&timeout=3s&retry_for=100ms"));
    ASSERT_TRUE(waiting.exchange(std::span(&beat, 1)).front());
    replica_->pause();
    run(others);
    EXPECT_THAT([&] { run(waiting); }, ThrowsMessage<backend_error>(HasSubstr("only 0 of the 1 replicas")));
    replica_->resume();
    server_connections patient(parse_redis_url(server_.url() + "?wait=1&retry_for=10s"));
    run(patient);
  }
}

// Promise: where replicas are missing nothing is added (redis, Replicas).
TEST_P(Replicated, FirstBatchOfAProcessBesideAReplicaThatHangsAddsNothing) {
  (void)store_->create("clicks", sized());
  const auto filter = waiting_for(1);
  replica_->pause();
  EXPECT_THAT(failure_of_add(*filter, keys_)->message,
              AllOf(HasSubstr("only 0 of the 1"), HasSubstr("nothing was added")));
  EXPECT_EQ(held(keys_), "1000 fresh");
  replica_->resume();
}

// Promise: where replicas are missing nothing is added (redis, Replicas).
TEST_P(Replicated, FilterThatTooFewReplicasWouldHaveIsNotMade) {
  const auto patient = store("wait=1&retry_for=10s"), hasty = store("wait=1&timeout=3s&retry_for=100ms");
  replica_->pause();
  EXPECT_THAT([&] { (void)hasty->create("clicks", sized()); },
              ThrowsMessage<backend_error>(HasSubstr("only 0 of the 1 replicas")));
  EXPECT_THAT([&] { (void)store_->open("clicks", access::read); },
              ThrowsMessage<error>(HasSubstr("no filter")));
  replica_->resume();
  EXPECT_EQ(outcome(add_keys(*patient->create("clicks", sized()), keys_)), "1000 fresh");
}

// Promise: a user of wait= may write the keys of the prefix (redis, Replicas).
TEST_P(Replicated, UserWhoMayNotWriteTheMarkIsTold) {
  (void)store_->create("clicks", sized());
  server_.run({"ACL", "SETUSER", "half", "on", ">secret", "~{a}*", "+@all"});
  server_connections half(
      parse_redis_url("redis://half:secret@127.0.0.1:" + std::to_string(server_.port()) + "?wait=1"));
  request write{{"{a}", 0}, encode({"SET", "{a}", "1"}), 1, true};
  write.on_replicas = true;
  const auto answers = half.exchange(std::span(&write, 1));
  ASSERT_FALSE(answers.front());
  EXPECT_THAT(answers.front().error().message, AllOf(HasSubstr("wait="), HasSubstr("NOPERM")));
}

// Promise: too few replicas are an outage (redis, Replicas).
TEST_P(Replicated, BatchOnAServerWithoutMemoryForTheMarkIsNotAcknowledged) {
  (void)store_->create("clicks", sized());
  server_connections full(parse_redis_url(server_.url() + "?wait=1&retry_for=100ms"));
  server_.run({"SET", "there", "1"});
  server_.run({"CONFIG", "SET", "maxmemory", "1"});
  request look{{"there", 0}, encode({"EXISTS", "there"}), 1, true};
  look.on_replicas = true;
  const auto refused = full.exchange(std::span(&look, 1));
  ASSERT_FALSE(refused.front());
  EXPECT_THAT(refused.front().error().message, AllOf(HasSubstr("wait="), HasSubstr("OOM")));
  server_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(full.exchange(std::span(&look, 1)).front());
}

// Promise: a server that refuses writes is waited for (redis, Outages).
TEST_P(Replicated, BatchOnAMasterThatLacksReplicasIsAcknowledgedOnceItHasThem) {
  (void)store_->create("clicks", sized());
  for (const std::string options : {"retry_for=5m", "retry_for=5m&wait=1"}) {
    const auto filter = store(options)->open("clicks", access::write);
    const std::vector<digest> some = random_digests(options.size()).take(100);
    server_.run({"CONFIG", "SET", "min-replicas-to-write", "2"});
    server_.run({"CONFIG", "RESETSTAT"});
    auto added = std::async(std::launch::async, [&] { return outcome(add_keys(*filter, some)); });
    test::wait_until(
        [&] {
          return server_.run({"INFO", "errorstats"}).find("NOREPLICAS") != std::string::npos;
        },
        "the server refuses a write");
    EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), some)), "100 fresh");
    server_.run({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_EQ(added.get(), "100 fresh") << options;
  }
}

TEST_P(Replicated, LookUpsWaitForNoReplica) {
  const auto filter = store("wait=1")->create("clicks", sized());
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "1000 fresh");
  replica_->stop();
  EXPECT_EQ(outcome(check_keys(*filter, keys_)), "1000 seen");
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, Replicated, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

}  // namespace
}  // namespace everseen::redis
