// How filters on servers end and begin anew, what is told of their servers, and what waits for replicas.

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/error.hpp"

#include "test/redis/stored.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::keys_in;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using cause = batch_failure::cause;

class Life : public testing::Test {
 protected:
  explicit Life(std::vector<std::string> config = {}) : server_(std::move(config)) {}
  spec small(std::uint32_t partitions = 2) const {
    return planned(*store_, {.capacity = 200, .error_rate = 1e-9, .partitions = partitions});
  }
  void wait_for_the_end() const {
    test::wait_until([&] { return server_.run({"EXISTS", "everseen:clicks"}) == "0"; }, "the filter ends");
  }

  redis_server server_;
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  std::vector<digest> keys_ = random_digests(1).take(1'000);
};

TEST_F(Life, AllKeysOfAnExpiringFilterEndAtOneMoment) {
  const auto filter = store_->create_expiring("clicks", small(), 1h);
  ASSERT_TRUE(add_keys(*filter, keys_).result) << "grows, so that segments come later than the rest";
  std::set<std::string> ends;
  std::size_t segments = 0;
  for (const std::string& key : keys_like(server_, "everseen:*clicks*")) {
    if (key.find("}:t:") != std::string::npos) continue;  // tokens go sooner
    ends.insert(server_.run({"PEXPIRETIME", key}));
    segments += key.find("}:0.") != std::string::npos;
  }
  EXPECT_GT(segments, 4u);
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(*ends.begin(), std::to_string(filter->ends_at()->time_since_epoch().count()));
  EXPECT_EQ(store_->open("clicks", access::read)->ends_at(), filter->ends_at());
}

TEST_F(Life, UsingAnExpiringFilterDoesNotPutItsEndOff) {
  const auto filter = store_->create_expiring("clicks", small(), 1h);
  const std::string state = keys_like(server_, "everseen:{clicks/*/0}").front();
  const std::string end = server_.run({"PEXPIRETIME", state});
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  ASSERT_TRUE(check_keys(*store_->open("clicks", access::write), keys_).result);
  store_->reset("clicks");
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  EXPECT_EQ(server_.run({"PEXPIRETIME", state}), end);
  EXPECT_EQ(server_.run({"PEXPIRETIME", state + ":0.0"}), end);
}

TEST_F(Life, FilterThatHasEndedIsNoDamageAndItsNameIsFree) {
  const auto filter = store_->create_expiring("clicks", small(), 1s);
  ASSERT_TRUE(add_keys(*filter, keys_).result);
  wait_for_the_end();
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(store_->list(), IsEmpty());
  EXPECT_THAT(message_of<parameter_error>([&] { store_->open("clicks", access::write); }),
              AllOf(HasSubstr("'clicks' has ended"), HasSubstr("everseen create clicks")));
  const auto failure = failure_of_add(*filter, keys_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("has ended"), Not(HasSubstr("but a key"))));
  EXPECT_EQ(failure->why, cause::storage);
  const auto again = store_->create("clicks", small());
  EXPECT_EQ(add_keys(*again, keys_).result->fresh, keys_.size());
  EXPECT_EQ(server_.run({"TTL", "everseen:clicks"}), "-1");
}

TEST_F(Life, FilterThatIsLostBeforeItsEndIsDamage) {
  (void)store_->create_expiring("clicks", small(), 1h);
  server_.run({"DEL", "everseen:clicks"});
  EXPECT_THAT(message_of<format_error>([&] { store_->open("clicks", access::read); }),
              HasSubstr("is missing"));
  EXPECT_THROW(store_->create("clicks", small()), format_error);
}

TEST_F(Life, FilterMadeAfterOneThatEndedIsDamageWhenItIsLost) {
  (void)store_->create_expiring("clicks", small(), 1s);
  wait_for_the_end();
  (void)store_->create("clicks", small());
  server_.run({"DEL", "everseen:clicks"});
  EXPECT_THROW(store_->open("clicks", access::read), format_error);
}

TEST_F(Life, NameOfAFilterThatHasEndedCanBeDropped) {
  (void)store_->create_expiring("clicks", small(), 1s);
  wait_for_the_end();
  store_->drop("clicks");
  EXPECT_THAT(keys_like(server_, "*"), IsEmpty());
}

TEST_F(Life, FilterMustLiveForASecondAtLeast) {
  EXPECT_THROW(store_->create_expiring("clicks", small(), 999ms), parameter_error);
  EXPECT_FALSE(store_->exists("clicks"));
}

TEST_F(Life, ResetWhileOthersAddLeavesAFilterThatWorks) {
  const auto filter = store_->create("clicks", small(4));
  std::atomic<bool> done = false;
  std::vector<std::jthread> others;
  for (std::uint64_t t = 0; t < 3; ++t)
    others.emplace_back([&, t] {
      const auto mine = store_at(server_.url())->open("clicks", access::write);
      for (random_digests source(100 + t); !done;)
        EXPECT_EQ(outcome(add_keys(*mine, source.take(100))), "100 fresh");
    });
  for (int i = 0; i < 30; ++i) store_->reset("clicks");
  done = true;
  others.clear();
  store_->reset("clicks");
  EXPECT_EQ(keys_in(*filter), 0u);
  EXPECT_EQ(add_keys(*filter, keys_).result->fresh, keys_.size());
  EXPECT_EQ(check_keys(*filter, keys_).result->seen, keys_.size());
}

TEST_F(Life, ResetLeavesNoSegmentBehind) {
  ASSERT_TRUE(add_keys(*store_->create("clicks", small()), keys_).result);
  store_->reset("clicks");
  EXPECT_THAT(keys_like(server_, "*:0.*"), IsEmpty());
}

TEST_F(Life, PartitionsSayWhichServerHasThem) {
  redis_server other;
  const auto both = store_at("redis://" + server_.address() + "," + other.address());
  const auto filter = both->create("clicks", small(3));
  EXPECT_EQ(filter->place_of(0), server_.address());
  EXPECT_EQ(filter->place_of(1), other.address());
  EXPECT_EQ(filter->place_of(2), server_.address());
}

TEST_F(Life, StoreWarnsOfWhatItsServersDo) {
  server_.run({"CONFIG", "SET", "appendonly", "yes"});
  EXPECT_THAT(store_->warnings(), IsEmpty());
  server_.run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  EXPECT_THAT(store_->warnings(), ElementsAre(AllOf(HasSubstr(server_.address()), HasSubstr("allkeys-lru"))));
  redis_server::options o;
  o.config = {"--replicaof", "127.0.0.1", std::to_string(server_.port()), "--appendonly", "yes"};
  const redis_server replica(o);
  EXPECT_THAT(store_at(replica.url())->warnings(), ElementsAre(HasSubstr("is a replica of")));
  const redis_server forgetful;
  EXPECT_THAT(store_at(forgetful.url())->warnings(), ElementsAre(HasSubstr("keeps nothing on disk")));
}

/// A server with one replica.
class Replicated : public Life {
 protected:
  explicit Replicated(std::vector<std::string> config = {}) : Life(std::move(config)) {
    server_.run({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    redis_server::options o;
    o.config = {"--replicaof", "127.0.0.1", std::to_string(server_.port())};
    replica_ = std::make_unique<redis_server>(o);
    // After the first copy a replica gets nothing for up to a second, though it looks as if it were in step.
    test::wait_until(
        [&] {
          return server_.run({"INFO", "replication"}).find("state=online") != std::string::npos;
        },
        "the replica has the first copy");
    server_.run({"SET", "beat", "1"});
    test::wait_until([&] { return replica_->run({"GET", "beat"}) == "1"; }, "the replica is in step");
  }

  std::unique_ptr<redis_server> replica_;
};

TEST_F(Replicated, AcknowledgedBatchIsOnTheReplica) {
  const auto waiting = store_at(server_.url("?wait=1"));
  const auto filter = waiting->create("clicks", small(4));
  for (std::size_t from = 0; from < keys_.size(); from += 100) {
    const auto some = std::span(keys_).subspan(from, 100);
    ASSERT_EQ(outcome(add_keys(*filter, some)), "100 fresh");
    server_.pause();  // the replica hears no more of it
    EXPECT_EQ(outcome(check_keys(*store_at(replica_->url())->open("clicks", access::read), some)),
              "100 seen");
    server_.resume();
  }
}

TEST_F(Replicated, BatchThatTheReplicaGetsInTimeIsAcknowledged) {
  const auto filter = store_at(server_.url("?wait=1&timeout=500ms"))->create("clicks", small(4));
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

TEST_F(Replicated, AllPartitionsOfABatchWaitTogether) {
  const auto filter = store_at(server_.url("?wait=1"))->create("clicks", small(64));
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "1000 fresh");
  server_.run({"CONFIG", "RESETSTAT"});
  ASSERT_EQ(outcome(add_keys(*filter, random_digests(4).take(1000))), "1000 fresh");
  // One behind the batch; and one before it, where the first is long ago.
  EXPECT_THAT(server_.run({"INFO", "commandstats"}), ContainsRegex("cmdstat_wait:calls=[12],"));
}

TEST_F(Replicated, BatchThatTooFewReplicasHaveIsNotAcknowledged) {
  const auto two = store_at(server_.url("?wait=2&timeout=3s&retry_for=100ms"))->create("clicks", small());
  const auto failure = failure_of_add(*two, keys_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message,
              AllOf(HasSubstr("only 1 of the 2 replicas"), HasSubstr("wait="), Not(HasSubstr("but a key"))));
  EXPECT_EQ(failure->why, cause::backend);

  const auto one =
      store_at(server_.url("?wait=1&timeout=500ms&retry_for=100ms"))->open("clicks", access::write);
  replica_->pause();
  EXPECT_THAT(failure_of_add(*one, random_digests(2).take(10))->message, HasSubstr("only 0 of the 1"));
  replica_->resume();
  const auto patient = store_at(server_.url("?wait=1"))->open("clicks", access::write);
  EXPECT_EQ(outcome(add_keys(*patient, random_digests(3).take(10))), "10 fresh");
}

/// Of some keys, how many are in the filter, by whoever asks.
class ReplicatedGears : public Replicated, public testing::WithParamInterface<const char*> {
 protected:
  ReplicatedGears() : Replicated(test::with_module()) {}
  std::shared_ptr<stored_filter> waiting_for(int replicas, const char* retry = "100ms") const {
    const std::string options = "?timeout=500ms&retry_for=" + std::string(retry) + "&gear=" + GetParam() +
                                "&wait=" + std::to_string(replicas);
    return store_at(server_.url(options))->open("clicks", access::write);
  }
  std::string held(std::span<const digest> keys) const {
    return outcome(check_keys(*store_->open("clicks", access::read), keys));
  }
};

TEST_P(ReplicatedGears, AcknowledgeABatchThatTheReplicaHas) {
  (void)store_->create("clicks", small());
  EXPECT_EQ(outcome(add_keys(*waiting_for(1), keys_)), "1000 fresh");
  server_.pause();
  EXPECT_EQ(outcome(check_keys(*store_at(replica_->url())->open("clicks", access::read), keys_)),
            "1000 seen");
  server_.resume();
}

TEST_P(ReplicatedGears, AddNothingThatCannotBeAcknowledged) {
  (void)store_->create("clicks", small());
  const auto failure = failure_of_add(*waiting_for(2), keys_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("only 1 of the 2 replicas"), HasSubstr("nothing was added"),
                                      Not(HasSubstr("but a key"))));
  EXPECT_EQ(held(keys_), "1000 fresh");
}

TEST_P(ReplicatedGears, AddNothingMoreBehindABatchThatWasNotAcknowledged) {
  (void)store_->create("clicks", small());
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

INSTANTIATE_TEST_SUITE_P(By, ReplicatedGears, testing::Values("script", "module"),
                         [](const auto& gear) { return std::string(gear.param); });

TEST_F(Replicated, LookUpsWaitForNobody) {
  const auto filter = store_at(server_.url("?wait=1"))->create("clicks", small());
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "1000 fresh");
  replica_->stop();
  EXPECT_EQ(outcome(check_keys(*filter, keys_)), "1000 seen");
}

}  // namespace
}  // namespace everseen::redis
