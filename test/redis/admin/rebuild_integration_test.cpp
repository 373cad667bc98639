// Rebuilding a filter while clients use it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"

#include "test/redis/admin/rebuilding.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using ::testing::HasSubstr;

class Rebuild : public Rebuilding {};

// Promise: a rebuilt filter holds the keys that it was given and those added meanwhile, no others (redis,
// Rebuild).
TEST_P(Rebuild, HoldsTheKeysThatItWasGivenAndNoOthers) {
  const auto given = source_.take(300);
  {
    const auto rebuild = begin();
    EXPECT_EQ(outcome(add_keys(*rebuild->target(), given)), "300 fresh");
    EXPECT_EQ(outcome(check_keys(*writer_, given)), "300 seen") << "as soon as they are given";
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen") << "until it is done";
    rebuild->commit();
  }
  const auto opened = client();
  EXPECT_EQ(opened->get_spec(), sized(5'000, 2));
  for (const auto& each : {opened, writer_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, given)), "300 seen");
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 fresh");
  }
  expect_no_leftovers();
}

// Promise: a rebuilt filter holds the keys that it was given and those added meanwhile, no others (redis,
// Rebuild).
TEST_P(Rebuild, HoldsKeysThatWereAddedMeanwhile) {
  const auto rebuild = begin();
  const auto meanwhile = source_.take(700);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "700 fresh");
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "700 seen");
  EXPECT_EQ(outcome(check_keys(*reader_, meanwhile)), "700 seen");
  rebuild->commit();
  for (const auto& each : {client(), writer_, reader_})
    EXPECT_EQ(outcome(check_keys(*each, meanwhile)), "700 seen");
}

// Promise: a rebuilt filter holds the keys that it was given and those added meanwhile, no others (redis,
// Rebuild).
// Promise: each key still gets `fresh` once (redis, Rebuild).
TEST_P(Rebuild, StaleLookUpsMakeNoKeyFreshTwice) {
  const auto lax = store_at(server_.url("?staleness=10m"))->open("clicks", access::write);
  const auto keys = source_.take(100);
  EXPECT_EQ(outcome(check_keys(*lax, keys)), "100 fresh");
  EXPECT_EQ(outcome(add_keys(*writer_, keys)), "100 fresh");
  const auto rebuild = begin();
  EXPECT_EQ(outcome(add_keys(*lax, keys)), "100 seen");
}

TEST_P(Rebuild, KeysThatWereRepeatedMeanwhileAreKept) {
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen") << "so it knows all partitions as they were";
  const auto rebuild = begin();
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 seen");
}

TEST_P(Rebuild, MayChangeThePartitions) {
  for (const std::uint32_t partitions : {5U, 1U, 3U}) {
    const auto meanwhile = source_.take(400);
    const auto rebuild = begin(2'000, partitions);
    EXPECT_EQ(outcome(add_keys(*rebuild->target(), old_)), "500 fresh");
    EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "400 fresh");
    rebuild->commit();
    const auto after = source_.take(400);
    EXPECT_EQ(outcome(add_keys(*writer_, after)), "400 fresh");
    EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
    EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), after)), "400 seen");
  }
  expect_no_leftovers();
}

TEST_P(Rebuild, KeepsTheWindow) {
  const spec s = windowed();
  const auto recent = store_->create("recent", s);
  ASSERT_TRUE(add_keys(*recent, old_, event_time(100s)).result);
  const auto rebuild = store_->begin_rebuild("recent", s, {});
  const auto meanwhile = source_.take(50);
  EXPECT_EQ(outcome(add_keys(*recent, meanwhile, event_time(110s))), "50 fresh");
  EXPECT_EQ(outcome(add_keys(*recent, old_, event_time(110s))), "500 seen");
  rebuild->commit();
  EXPECT_EQ(tally_of(add_keys(*recent, meanwhile, event_time(120s))).seen, 50u);
  EXPECT_EQ(tally_of(add_keys(*recent, meanwhile, event_time(0s))).late, 50u);
  EXPECT_THROW(store_->begin_rebuild("recent", windowed(120s), {}), parameter_error);
}

TEST_P(Rebuild, IsReportedUntilItIsDone) {
  EXPECT_FALSE(client()->path().asks_first);
  const auto rebuild = begin();
  ASSERT_TRUE(client()->path().asks_first);
  EXPECT_EQ(client()->path().asks_first->name, "clicks");
  rebuild->commit();
  EXPECT_FALSE(client()->path().asks_first);
}

TEST_P(Rebuild, MissingPartitionIsDamageAndNotADrop) {
  const std::string state = key_like(server_, "everseen:{*/0}");
  ASSERT_EQ(server_.run({"DEL", state}), "1");
  const auto told = failure_of_add(*writer_, source_.take(100));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->why, batch_failure::cause::format);
  EXPECT_THAT(told->message, HasSubstr(state + " is missing"));
}

TEST_P(Rebuild, OfAnotherSeedIsRefused) {
  spec other = sized(5'000, 2);
  other.seed[0] = 1;
  EXPECT_THAT(message_of<parameter_error>([&] { store_->begin_rebuild("clicks", other, {}); }),
              HasSubstr("another seed"));
  EXPECT_THROW(store_->begin_rebuild("nope", sized(100, 1), {}), parameter_error);
  expect_no_leftovers();
}

TEST_P(Rebuild, FromACopyHasItsBitsAndLaterKeys) {
  const auto copy = copy_of(*writer_);
  const auto forgotten = source_.take(100);
  ASSERT_EQ(outcome(add_keys(*writer_, forgotten)), "100 fresh");
  const auto rebuild = store_->begin_rebuild("clicks", writer_->get_spec(), copy.states);
  for (const auto& [id, bits] : copy.segments) rebuild->merge(id, bits);
  (void)rebuild->target();
  const auto meanwhile = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "100 fresh") << "meets the bits of the copy";
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 seen");
  EXPECT_EQ(outcome(check_keys(*writer_, meanwhile)), "100 seen");
  EXPECT_EQ(outcome(check_keys(*writer_, forgotten)), "100 fresh");
  EXPECT_EQ(test::keys_in(*client("clicks", access::read)), 600u);
}

TEST_P(Rebuild, OfAnExpiringFilterKeepsItsEndWhichCannotBeMovedMeanwhile) {
  const auto today = store_->create("today", sized(300, 2), 1h);
  const auto end = store_->facts("today").expires_at;
  ASSERT_TRUE(add_keys(*today, old_).result);
  const auto rebuild = store_->begin_rebuild("today", sized(300, 3), {});
  ASSERT_TRUE(add_keys(*rebuild->target(), old_).result);
  EXPECT_THAT(message_of<parameter_error>([&] { store_->expire_at("today", *end + 1h); }),
              HasSubstr("is being rebuilt"));
  rebuild->commit();
  EXPECT_EQ(store_->facts("today").expires_at, end);
  ASSERT_TRUE(add_keys(*today, source_.take(1'000)).result) << "grows";
  for (const std::string& key : keys_of_filters()) EXPECT_EQ(server_.run({"PTTL", key}), "-1") << key;
  store_->expire_at("today", *end + 1h);
  EXPECT_EQ(store_->facts("today").expires_at, *end + 1h);
}

TEST_P(Rebuild, OfAFilterWithJobsIsRefusedAndSoIsAJobDuringIt) {
  {
    const auto job = writer_->open_ledger("count", "");
    EXPECT_THAT(message_of<parameter_error>([&] { (void)begin(); }), HasSubstr("count"));
  }
  store_->end_job("clicks", "count");
  const auto rebuild = begin();
  EXPECT_THAT(message_of<error>([&] { (void)writer_->open_ledger("count", ""); }), HasSubstr("rebuilt"));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)client()->open_ledger("count", ""); }),
              HasSubstr("is being rebuilt"));
  rebuild->commit();
  EXPECT_NE(client()->open_ledger("count", ""), nullptr);
}

TEST_P(Rebuild, OfALinkedFilterKeepsTheLink) {
  const auto asked = source_.take(100);
  ASSERT_TRUE(add_keys(*store_->create("older", sized(300, 2)), asked).result);
  store_->link("older", "clicks", {});
  begin()->commit();
  const auto opened = client();
  ASSERT_TRUE(opened->path().asks_first);
  EXPECT_EQ(opened->path().asks_first->name, "older");
  store_->unlink("clicks");
  EXPECT_FALSE(client()->path().asks_first);
}

// Keys that were late for a window remain late.
TEST_P(Rebuild, ReportsNoLateKeyAsFresh) {
  const spec s = windowed();
  const auto recent = store_->create("recent", s);
  ASSERT_TRUE(add_keys(*recent, old_, event_time(30s)).result);
  ASSERT_TRUE(add_keys(*recent, source_.take(50), event_time(200s)).result);
  EXPECT_EQ(tally_of(add_keys(*recent, old_, event_time(30s))).late, 500U);
  const auto rebuild = store_->begin_rebuild("recent", s, {});
  EXPECT_EQ(tally_of(add_keys(*recent, old_, event_time(30s))).late, 500U);
  rebuild->commit();
  EXPECT_EQ(tally_of(add_keys(*recent, old_, event_time(30s))).late, 500U);
  EXPECT_EQ(tally_of(add_keys(*client("recent"), old_, event_time(30s))).late, 500U);
}

// Promise: a filter is not exported until its rebuild has ended (redis, Rebuild).
TEST_P(Rebuild, IsNotExportedUntilItIsComplete) {
  const auto nothing = [](const auto&, const auto&, auto) {};
  {
    const auto rebuild = begin();
    EXPECT_THAT(message_of<storage_error>([&] { client()->visit_segments(0, nothing); }),
                HasSubstr("is being rebuilt"));
    EXPECT_THAT(message_of<storage_error>([&] { writer_->visit_segments(0, nothing); }),
                HasSubstr("open it again"));
    rebuild->commit();
  }
  client()->visit_segments(0, nothing);
}

// Threads meet a seal in the middle of their batches: each key is fresh once, whichever generation has it.
TEST_P(Rebuild, OfManyThreadsExactlyOneGetsFreshDuringRepeatedRebuilds) {
  const auto keys = source_.take(20'000);
  std::vector<std::atomic<int>> fresh(keys.size());
  std::atomic<bool> failed = false;
  const auto add = [&](std::shared_ptr<stored_filter> filter, std::size_t begin) {
    for (std::size_t done = 0; done < keys.size(); done += 50) {
      const std::size_t from = (begin + done) % keys.size();
      const auto got = add_keys(*filter, std::span(keys).subspan(from, 50));
      if (!got.result) failed = true;
      for (std::size_t i = 0; i < 50; ++i) fresh[from + i] += got.verdicts[i] == verdict::fresh;
      std::this_thread::sleep_for(5ms);
    }
  };
  std::vector<std::future<void>> adding;
  for (std::size_t i = 0; i < 6; ++i)
    adding.push_back(std::async(std::launch::async, add, i % 2 == 0 ? writer_ : client(), i * 3'000));
  for (const std::uint32_t partitions : {3U, 2U}) {
    const auto rebuild = begin(20'000, partitions);
    std::this_thread::sleep_for(100ms);
    std::vector<digest> so_far;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (fresh[i] > 0) so_far.push_back(keys[i]);
    EXPECT_TRUE(add_keys(*rebuild->target(), so_far).result);
    rebuild->commit();
  }
  for (auto& each : adding) each.get();
  EXPECT_FALSE(failed);
  EXPECT_EQ(std::ranges::count_if(fresh, [](const auto& n) { return n != 1; }), 0);
}

TEST_P(Rebuild, OnSeveralServersLosesNothing) {
  redis_server other(with_judge());
  const auto many = store_at("redis://" + server_.address() + "," + other.address());
  const auto filter = many->create("spread", sized(300, 4));
  ASSERT_TRUE(add_keys(*filter, old_).result);
  const auto rebuild = many->begin_rebuild("spread", sized(1'000, 3), {});
  const auto meanwhile = source_.take(300);
  EXPECT_EQ(outcome(add_keys(*filter, meanwhile)), "300 fresh");
  EXPECT_EQ(outcome(add_keys(*rebuild->target(), old_)), "500 fresh");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*filter, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*filter, old_)), "500 seen");
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, Rebuild, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

class RebuildJudgedByClients : public Rebuild {};
INSTANTIATE_TEST_SUITE_P(, RebuildJudgedByClients, testing::Values(judges::clients), name_of_judges);

TEST_P(RebuildJudgedByClients, TooLargeForAnyClientIsRefused) {
  const auto little = store("mirror=1Mi");
  EXPECT_THAT(message_of<parameter_error>([&] { little->begin_rebuild("clicks", sized(1'000'000, 2), {}); }),
              HasSubstr("give the option mirror="));
  EXPECT_THAT(message_of<parameter_error>([&] { little->create("large", sized(1'000'000, 2)); }),
              HasSubstr("give the option mirror="));
  expect_no_leftovers();
}

class RebuildJudgedByServers : public Rebuild {};
INSTANTIATE_TEST_SUITE_P(, RebuildJudgedByServers, testing::Values(judges::servers), name_of_judges);

/// For example, it has no descriptors left for the next attempt.
class throwing final : public retry_policy {
 public:
  bool tries_again(const outage&) override { throw storage_error("no more descriptors", 0, {}); }
  void on_recovered() override {}
};

TEST_P(RebuildJudgedByServers, WithOtherPartitionsKeepsAnswersFromBeforeTheSystemRefused) {
  using test::cutting_proxy;
  cutting_proxy proxy(server_.port());
  const auto cut_store = store_at(proxy.url());
  const auto cut = cut_store->open("clicks", access::write);
  begin(50'000, 3)->commit();
  ASSERT_EQ(outcome(check_keys(*cut, old_)), "500 fresh");
  cut_store->wait_with(std::make_shared<throwing>());
  proxy.cut_after(cutting_proxy::direction::to_client,
                  50'000);  // three calls of 16,384 keys, not the next three
  const auto got = add_keys(*cut, source_.take(60'000));
  ASSERT_TRUE(proxy.has_cut());
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().message, "no more descriptors");
  EXPECT_EQ(got.result.error().done, (tally{.fresh = 49'152, .unknown = 10'848}));
}

TEST(RebuildForAnotherJudge, LosesNothingInEitherDirection) {
  const redis_server server(test::with_module());
  const auto in = store_at(server.url());
  const auto judged_by = [&](judge_kind judge) {
    return planned(*in, {.capacity = 1'000,
                         .error_rate = 1e-12,
                         .hash = hash_kind::xxh3_64,
                         .partitions = 2,
                         .judge = judge});
  };
  random_digests source(1);
  auto all = source.take(500);
  const auto filter = in->create("clicks", judged_by(judge_kind::client));
  const auto reader = store_at(server.url())->open("clicks", access::read);
  ASSERT_TRUE(add_keys(*filter, all).result);
  for (const judge_kind next : {judge_kind::server, judge_kind::client}) {
    const auto rebuild = in->begin_rebuild("clicks", judged_by(next), {});
    const auto meanwhile = source.take(300);
    EXPECT_EQ(outcome(add_keys(*filter, meanwhile)), "300 fresh");
    EXPECT_TRUE(add_keys(*rebuild->target(), all).result);
    rebuild->commit();
    all.insert(all.end(), meanwhile.begin(), meanwhile.end());
    EXPECT_EQ(tally_of(check_keys(*reader, all)).seen, all.size());
    EXPECT_EQ(store_at(server.url())->open("clicks", access::read)->get_spec().judge, next);
  }
}

}  // namespace
}  // namespace everseen::redis
