// Filters that their clients judge: a server keeps the order of keys, and each client the bits.

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/model/lockstep.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::keys_in;
using test::lockstep;
using test::random_digests;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(JudgedByClients, KeyIsFreshOnceWhicheverClientsAddIt) {
  const auto first = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 3});
  const auto second = client();
  const auto keys = random_digests(1).take(2000);
  const std::span all(keys);
  EXPECT_EQ(fresh_in(add_keys(*first, all.first(1000))), 1000u);
  EXPECT_EQ(fresh_in(add_keys(*second, all.subspan(500))), 1000u);
  EXPECT_EQ(fresh_in(add_keys(*first, all)), 0u);
  EXPECT_EQ(keys_in(*first), 2000u);
  EXPECT_EQ(keys_in(*second), 2000u);
}

// Promise: a look-up knows every key that was acknowledged before (redis, Where clients judge).
TEST_F(JudgedByClients, LookUpKnowsEveryKeyThatWasAcknowledgedBefore) {
  const auto writer = make({.capacity = 1000, .error_rate = 1e-9});
  const auto reader = client("clicks", access::read);
  random_digests random(2);
  for (int round = 0; round < 20; ++round) {
    const auto keys = random.take(50);
    EXPECT_EQ(fresh_in(check_keys(*reader, keys)), 50u);
    EXPECT_EQ(fresh_in(add_keys(*writer, keys)), 50u);
    EXPECT_EQ(fresh_in(check_keys(*reader, keys)), 0u);
  }
}

// Promise: with staleness= a look-up may be that old (redis, Where clients judge).
TEST_F(JudgedByClients, LookUpMayBeAsStaleAsTheUrlAllows) {
  const auto writer = make({.capacity = 1000, .error_rate = 1e-9});
  const auto lax = store_at(server_.unix_url() + "?staleness=10m")->open("clicks", access::read);
  const auto keys = random_digests(2).take(50);
  EXPECT_EQ(fresh_in(check_keys(*lax, keys)), 50u);
  EXPECT_EQ(fresh_in(add_keys(*writer, keys)), 50u);
  EXPECT_EQ(fresh_in(check_keys(*lax, keys)), 50u) << "no server is asked";
  EXPECT_EQ(fresh_in(check_keys(*client("clicks", access::read), keys)), 0u);
}

// Promise: a repeat costs the server no command (redis, Where clients judge).
TEST_F(JudgedByClients, RepeatCostsTheServerNoCommand) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9});
  const auto keys = random_digests(3).take(1000);
  answered(add_keys(*filter, keys));
  const auto calls = [&] {
    const std::string info = server_.run({"INFO", "commandstats"});
    const auto place = info.find("cmdstat_evalsha:calls=");
    return place == std::string::npos ? std::string("0") : info.substr(place, info.find(',', place) - place);
  };
  const std::string before = calls();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(fresh_in(add_keys(*filter, keys)), 0u);
  EXPECT_EQ(calls(), before);
}

// Promise: of any number of clients that add a key exactly one gets fresh (redis, Where clients judge).
TEST_F(JudgedByClients, OfManyThreadsOfManyClientsExactlyOneGetsFresh) {
  (void)make({.capacity = 20'000, .error_rate = 1e-9, .partitions = 4});
  const auto keys = random_digests(4).take(20'000);
  std::atomic<std::uint64_t> fresh = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned c = 0; c < 4; ++c) {
      const auto shared = client();
      for (unsigned t = 0; t < 2; ++t)
        threads.emplace_back([&, shared, seed = 2 * c + t] {
          random_digests random(seed);
          for (int batch = 0; batch < 60; ++batch) {
            const std::size_t from = random.word() % (keys.size() - 700);
            fresh += fresh_in(add_keys(*shared, std::span(keys).subspan(from, 700)));
          }
        });
    }
  }
  const auto last = client();
  fresh += fresh_in(add_keys(*last, keys));
  EXPECT_EQ(fresh, keys.size());
  EXPECT_EQ(keys_in(*last), keys.size());
}

TEST_F(JudgedByClients, LeaseOfAnotherClientIsWaitedFor) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  const auto time_ms = [&] {
    const auto parts = lines_of(server_.run({"TIME"}));
    return std::stoll(parts.at(0)) * 1000 + std::stoll(parts.at(1)) / 1000;
  };
  const auto until = time_ms() + 900;
  (void)server_.run({"HSET", state_key(), "lease", "w:x " + std::to_string(until)});
  EXPECT_EQ(fresh_in(add_keys(*filter, random_digests(7).take(5))), 5u);
  EXPECT_GE(time_ms(), until);
}

TEST_F(JudgedByClients, LeaseOfAServerWhoseClockWasSetBackIsNotWaitedFor) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  (void)server_.run({"HSET", state_key(), "lease", "w:x 99999999999999"});
  EXPECT_EQ(fresh_in(add_keys(*filter, random_digests(7).take(5))), 5u);
  EXPECT_EQ(field("lease"), "");
}

// Promise: growth and windows follow from the journal alone (redis, Where clients judge).
TEST_F(JudgedByClients, GrowthAndWindowsFollowFromTheJournalAlone) {
  using namespace std::chrono_literals;
  (void)make({.capacity = 300, .error_rate = 1e-9, .window = window_spec{1000ms, 4}, .partitions = 2});
  lockstep exact(client());
  std::vector<std::shared_ptr<stored_filter>> clients = {client(), client(), client()};
  random_digests random(5);
  std::vector<digest> all;
  for (int round = 0; round < 120; ++round) {
    const auto fresh = random.take(1 + random.word() % 60);
    all.insert(all.end(), fresh.begin(), fresh.end());
    std::vector<digest> batch = fresh;
    for (int i = 0; i < 20; ++i) batch.push_back(all[random.word() % all.size()]);
    exact.continue_with(clients[random.word() % clients.size()]);
    exact.add(batch, event_time(std::chrono::milliseconds(40 * round - random.word() % 300)));
  }
  exact.expect_error_rate();
  for (std::uint32_t p = 0; p < 2; ++p) EXPECT_EQ(clients[0]->state(p), clients[1]->state(p));
}

TEST_F(JudgedByClients, FullFilterAnswersForTheKeysItHolds) {
  const auto filter =
      make({.capacity = 100, .error_rate = 1e-9, .growth = growth_kind::refuse, .partitions = 1});
  const auto keys = random_digests(6).take(200);
  const auto first = add_keys(*filter, keys);
  ASSERT_FALSE(first.result);
  EXPECT_EQ(first.result.error().why, batch_failure::cause::full);
  const std::uint64_t held = tally_of(first.verdicts).fresh;
  EXPECT_GE(held, 100u);
  const auto again = add_keys(*client(), keys);
  EXPECT_EQ(tally_of(again.verdicts), (tally{.seen = held, .unknown = 200 - held}));
}

/// A filter whose journal was truncated at checkpoints many times.
class Checkpoint : public JudgedByClients {
 protected:
  Checkpoint() {
    for (std::size_t from = 0; from < keys_.size(); from += 20'000)
      EXPECT_EQ(fresh_in(add_keys(*filter_, std::span(keys_).subspan(from, 20'000))), 20'000u);
  }
  std::shared_ptr<stored_filter> filter_ = make({.capacity = 400'000, .error_rate = 1e-9, .partitions = 1});
  std::vector<digest> keys_ = random_digests(7).take(400'000);
};

TEST_F(Checkpoint, GivesANewClientEveryKey) {
  const auto newcomer = client();
  EXPECT_EQ(fresh_in(add_keys(*newcomer, keys_)), 0u);
  EXPECT_EQ(newcomer->state(0), filter_->state(0));
}

TEST_F(Checkpoint, BoundsTheJournal) {
  std::uint64_t journal = 0;
  for (const std::string& chunk : keys_like(server_, "everseen:{*/0}:j*"))
    journal += std::stoull(server_.run({"STRLEN", chunk}));
  EXPECT_LE(journal, filter_->state(0).bytes() + 3 * journal_chunk_bytes);
  EXPECT_LT(journal, short_key_bytes * keys_.size());
}

// Promise: a missing part of the journal or a segment is damage that names the key (redis, Where clients
// judge).
TEST_F(Checkpoint, MissingPartIsDamageThatNamesTheKey) {
  for (const std::string pattern : {"everseen:{*/0}:0.0", "everseen:{*/0}:j*"}) {
    const std::string lost = keys_like(server_, pattern).back();
    const std::string kept = server_.run({"DUMP", lost});
    (void)server_.run({"DEL", lost});
    const auto told = failure_of_add(*client(), std::span(keys_).first(10));
    ASSERT_TRUE(told) << lost;
    EXPECT_EQ(told->why, batch_failure::cause::format);
    EXPECT_THAT(told->message, AllOf(HasSubstr("everseen:{"), HasSubstr("Restore")));
    break;
  }
}

TEST_F(JudgedByClients, DroppedFilterLeavesNoKeyAndItsClientsGetAnError) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 2});
  answered(add_keys(*filter, random_digests(8).take(1000)));
  store_->drop("clicks");
  EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
  const auto told = failure_of_add(*filter, random_digests(9).take(10));
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, HasSubstr("dropped"));
  EXPECT_FALSE(store_->exists("clicks"));
}

TEST_F(JudgedByClients, NameIsGivenAndTakenInOneStep) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9}, "old");
  const auto keys = random_digests(10).take(100);
  answered(add_keys(*filter, keys));
  EXPECT_THROW((void)make({.capacity = 10}, "old"), name_taken);
  store_->rename("old", "new", store::namesake::refuse);
  EXPECT_THAT(store_->list(), ElementsAre("new"));
  EXPECT_EQ(fresh_in(add_keys(*client("new"), keys)), 0u);
  EXPECT_EQ(fresh_in(add_keys(*filter, keys)), 0u) << "clients that have it open continue";
  (void)make({.capacity = 1000}, "other");
  EXPECT_THROW(store_->rename("other", "new", store::namesake::refuse), name_taken);
  store_->rename("other", "new", store::namesake::replace);
  store_->rename("new", "new", store::namesake::replace);
  EXPECT_EQ(fresh_in(add_keys(*client("new"), keys)), 100u);
}

// Promise: a server that returns with less than it acknowledged is detected (redis, Where clients judge).
TEST_F(JudgedByClients, ServerThatReturnsWithLessIsDetected) {
  (void)server_.run({"CONFIG", "SET", "save", ""});
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  const auto keys = random_digests(11).take(300);
  answered(add_keys(*filter, std::span(keys).first(100)));
  (void)server_.run({"SAVE"});
  answered(add_keys(*filter, std::span(keys).subspan(100, 100)));
  server_.kill();
  server_.start();
  const auto told = failure_of_add(*filter, std::span(keys).subspan(200));
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, HasSubstr("came back without everything that it had acknowledged"));
  // From then on it follows the server's data, as all others do.
  EXPECT_EQ(fresh_in(add_keys(*filter, keys)), 200u);
}

TEST_F(JudgedByClients, BytesAfterTheEndOfATornJournalAreNeverRead) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  const auto keys = random_digests(12).take(300);
  answered(add_keys(*filter, std::span(keys).first(100)));
  // The remains of a call whose second half was lost with the end of the log.
  EXPECT_NE(server_.run({"APPEND", chunk(0), std::string(2000, 'x')}), "2000") << "it holds a record";
  EXPECT_EQ(fresh_in(add_keys(*filter, std::span(keys).subspan(100, 10))), 10u);
  EXPECT_EQ(fresh_in(add_keys(*client(), std::span(keys).first(110))), 0u);
}

// Promise: a batch gets the same answer wherever its connection is cut (redis, Where clients judge).
TEST_F(JudgedByClients, BatchGetsTheSameAnswerWhereverItsConnectionIsCut) {
  random_digests random(13);
  const auto beside = make({.capacity = 100'000, .error_rate = 1e-9, .partitions = 2});
  for (const direction d : {direction::to_server, direction::to_client})
    for (std::size_t bytes = 0; bytes < (d == direction::to_server ? 1500u : 250u); bytes += 13) {
      test::cutting_proxy proxy(server_.port());
      const auto filter = store_at(proxy.url())->open("clicks", access::write);
      const auto keys = random.take(40);
      ASSERT_EQ(fresh_in(add_keys(*filter, std::span(keys).first(10))), 10u);
      ASSERT_EQ(fresh_in(add_keys(*beside, std::span(keys).subspan(5, 10))), 5u);
      proxy.cut_after(d, bytes);
      ASSERT_EQ(fresh_in(add_keys(*filter, keys)), 25u) << bytes;
      ASSERT_EQ(fresh_in(add_keys(*beside, keys)), 0u) << bytes;
    }
}

TEST_F(JudgedByClients, InterruptedDropIsFinishedByTheNext) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 2});
  answered(add_keys(*filter, random_digests(14).take(100)));
  begin_drop(server_, "clicks");
  EXPECT_THAT(store_->list(), IsEmpty());
  (void)make({.capacity = 10}, "other");
  store_->drop("other");
  EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
}

}  // namespace
}  // namespace everseen::redis
