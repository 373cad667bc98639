// Everything that reads or writes much, over a link that is cut again and again: what arrived is not asked
// for or sent again, so it ends, and an outage lasts from the last answer on.

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/keyspace/asking.hpp"

#include "test/foreign/attached/attached.hpp"
#include "test/redis/journal/judged_by_clients.hpp"
#include "test/redis/judges.hpp"
#include "test/support/claimed_events.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;

constexpr std::size_t bytes_of_a_link = 60'000;

using test::claim_events;
using test::event;

/// Bits of all segments of a filter.
std::vector<std::vector<std::byte>> bits_of(const stored_filter& in) {
  std::vector<std::vector<std::byte>> all;
  for (std::uint32_t p = 0; p < in.get_spec().partitions; ++p)
    in.visit_segments(p, [&](const segment_id&, const layer_state&, std::span<const std::byte> bits) {
      all.emplace_back(bits.begin(), bits.end());
    });
  return all;
}

class PoorLink : public JudgedByClients {
 protected:
  void cut_often() { proxy_.cut_every(direction::to_client, bytes_of_a_link); }
  void cut_uploads_often() { proxy_.cut_every(direction::to_server, bytes_of_a_link); }
  /// The whole takes longer than an outage may last.
  std::shared_ptr<stored_filter> distant_client() { return client_by(proxy_, "/?retry_for=1s"); }

  random_digests random_{51};
  cutting_proxy proxy_{server_.port()};
};

// Promise: a client catches up over a link that carries little before it is cut (redis, Where clients judge).
TEST_F(PoorLink, NewcomerReadsALongJournal) {
  const auto beside = make({.capacity = 4'000'000, .error_rate = 1e-9, .partitions = 2});
  const auto keys = random_.take(250'000);
  for (std::size_t from = 0; from < keys.size(); from += 25'000)  // long records
    answered(add_keys(*beside, std::span(keys).subspan(from, 25'000)));
  for (std::size_t i = 0; i < 20; ++i) answered(add_keys(*beside, random_.take(200)));
  ASSERT_GT(journal_bytes(), 1'500'000u);
  cut_often();
  proxy_.delay(std::chrono::milliseconds(5));
  const auto newcomer = distant_client();
  EXPECT_EQ(fresh_in(check_keys(*newcomer, keys)), 0u);
  EXPECT_GT(proxy_.connections(), 30u);
}

TEST_F(PoorLink, ClientReadsOnWhatOthersAdd) {
  const auto beside = make({.capacity = 4'000'000, .error_rate = 1e-9, .partitions = 1});
  cut_often();
  const auto client = distant_client();
  ASSERT_EQ(fresh_in(add_keys(*client, random_.take(100))), 100u);
  for (int round = 0; round < 4; ++round) {
    const auto theirs = random_.take(30'000);
    ASSERT_EQ(fresh_in(add_keys(*beside, theirs)), theirs.size());
    const auto ours = random_.take(1'000);
    ASSERT_EQ(fresh_in(add_keys(*client, ours)), ours.size());
    ASSERT_EQ(fresh_in(check_keys(*client, theirs)), 0u);
  }
}

TEST_F(PoorLink, NewcomerReadsACheckpoint) {
  const auto beside = make({.capacity = 500'000, .error_rate = 1e-6, .partitions = 1});
  auto keys = fill_to_the_brink(*beside, random_);
  const auto more = random_.take(1'000);
  ASSERT_EQ(fresh_in(add_keys(*beside, more)), more.size());
  ASSERT_LT(journal_bytes(), 100'000u) << "there is a checkpoint";
  keys.insert(keys.end(), more.begin(), more.end());
  cut_often();
  const auto newcomer = distant_client();
  EXPECT_EQ(fresh_in(check_keys(*newcomer, keys)), 0u);
  EXPECT_EQ(bits_of(*newcomer), bits_of(*beside));
}

TEST_F(PoorLink, CheckpointIsWrittenOverIt) {
  const auto beside = make({.capacity = 500'000, .error_rate = 1e-6, .partitions = 1});
  (void)fill_to_the_brink(*beside, random_);
  proxy_.cut_every(direction::to_server, bytes_of_a_link);
  const auto writer = distant_client();
  ASSERT_EQ(fresh_in(check_keys(*writer, random_.take(100))), 100u);
  ASSERT_EQ(fresh_in(add_keys(*writer, random_.take(500))), 500u);
  EXPECT_EQ(journal_bytes(), 0u) << "there is a checkpoint";
  EXPECT_EQ(bits_of(*client()), bits_of(*writer));
}

// Promise: keys are added over a link that carries one request of theirs before it is cut (redis, Where
// clients judge).
TEST_F(PoorLink, KeysAreAddedOverItByRequestsThatItCarries) {
  const auto beside = make({.capacity = 4'000'000, .error_rate = 1e-9, .partitions = 4});
  proxy_.cut_every(direction::to_server, bytes_of_a_link);
  const auto client = distant_client();
  std::vector<digest> all;
  for (int round = 0; round < 20; ++round) {
    const auto keys = random_.take(8'000);
    ASSERT_EQ(fresh_in(add_keys(*client, keys)), keys.size()) << round;
    all.insert(all.end(), keys.begin(), keys.end());
  }
  EXPECT_EQ(fresh_in(add_keys(*client, all)), 0u);
  EXPECT_EQ(fresh_in(check_keys(*beside, all)), 0u);
  EXPECT_GT(proxy_.connections(), 30u);
}

// Promise: a client adds a batch over a link that carries less than the batch before it is cut: each key once
// (redis, Outages).
TEST_F(PoorLink, BatchIsAddedOverIt) {
  const auto beside = make({.capacity = 1'000'000, .error_rate = 1e-12, .partitions = 2});
  const auto theirs = random_.take(30'000);
  ASSERT_EQ(fresh_in(add_keys(*beside, theirs)), theirs.size());
  cut_uploads_often();
  const auto distant = distant_client();
  std::vector<digest> keys;  // of each three one is theirs
  for (const digest& each : theirs) {
    keys.push_back(each);
    for (const digest& own : random_.take(2)) keys.push_back(own);
  }
  const auto got = add_keys(*distant, keys);
  ASSERT_TRUE(got.result) << got.result.error().message;
  for (std::size_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(got.verdicts[i], i % 3 == 0 ? verdict::seen : verdict::fresh) << i;
  EXPECT_GT(proxy_.connections(), 15u);
  const auto more = random_.take(10'000);
  ASSERT_EQ(fresh_in(add_keys(*beside, more)), more.size());
  EXPECT_EQ(fresh_in(check_keys(*distant, more)), 0u) << "it catches up";
  const auto newcomer = client();
  EXPECT_EQ(fresh_in(check_keys(*newcomer, keys)), 0u);
  EXPECT_EQ(test::keys_in(*newcomer), keys.size() + more.size());
  EXPECT_EQ(bits_of(*newcomer), bits_of(*distant));
}

TEST_F(PoorLink, BatchIsAddedThoughTheLinkGotPoorMeanwhile) {
  const auto made = make({.capacity = 1'000'000, .error_rate = 1e-12, .partitions = 1});
  const auto distant = distant_client();
  std::uint64_t all = 0;
  for (const std::size_t passing : {200ul, 40'000ul, 400'000ul, 810'000ul}) {
    proxy_.cut_every(direction::to_server, 0);
    ASSERT_EQ(fresh_in(add_keys(*distant, random_.take(100))), 100u);
    cut_uploads_often();
    proxy_.cut_after(direction::to_server, passing);
    ASSERT_EQ(fresh_in(add_keys(*distant, random_.take(50'000))), 50'000u) << passing;
    all += 50'100;
  }
  EXPECT_EQ(test::keys_in(*client()), all);
}

TEST_F(PoorLink, BatchIsAddedOverItWhileOthersAddToo) {
  const auto beside = make({.capacity = 10'000'000, .error_rate = 1e-12, .partitions = 1});
  cut_uploads_often();
  const auto distant = distant_client();
  std::atomic<bool> ends = false;
  std::atomic<std::uint64_t> theirs = 0;
  std::thread others([&] {
    for (random_digests random(54); !ends; theirs += 100)
      ASSERT_EQ(fresh_in(add_keys(*beside, random.take(100))), 100u);
  });
  const auto keys = random_.take(20'000);
  const auto got = add_keys(*distant, keys);
  ends = true;
  others.join();
  ASSERT_TRUE(got.result) << got.result.error().message;
  EXPECT_EQ(fresh_in(got), keys.size());
  const auto newcomer = client();
  EXPECT_EQ(fresh_in(check_keys(*newcomer, keys)), 0u);
  EXPECT_EQ(test::keys_in(*newcomer), keys.size() + theirs);
}

// Promise: a job claims its events over a link that carries less than a batch before it is cut: each takes
// effect once (redis, Outages).
TEST_F(PoorLink, EventsAreClaimedOverIt) {
  const auto made = make({.capacity = 1'000'000, .error_rate = 1e-12, .partitions = 1});
  const opened_job job(distant_client());
  std::uint64_t position = 0;
  for (const std::size_t passing : {60'000ul, 200ul, 250'000ul, 480'000ul}) {
    std::vector<event> events;
    for (const digest& key : random_.take(10'000))
      for (int i = 0; i < 2; ++i) events.push_back({position++, key, {}, {"all"}});
    proxy_.cut_every(direction::to_server, 0);
    ASSERT_EQ(fresh_in(add_keys(*made, random_.take(10))), 10u);
    cut_uploads_often();
    proxy_.cut_after(direction::to_server, passing);
    const auto got = claim_events(*job, made->get_spec(), {"lane", position - events.size()}, events);
    ASSERT_TRUE(got.result) << passing << ": " << got.result.error().message;
    for (std::size_t i = 0; i < events.size(); ++i)
      ASSERT_EQ(got.verdicts[i], i % 2 == 0 ? verdict::fresh : verdict::seen) << passing << ": " << i;
    ASSERT_THAT(got.before, testing::Each(0)) << passing;
  }
  EXPECT_EQ(test::counters_of(*job), (std::map<std::string, std::int64_t>{{"all", 40'000}}));
  EXPECT_EQ(test::keys_in(*client()), 40'040u);
}

TEST_F(PoorLink, LinkThatCarriesNoPieceIsAnOutageAndNothingIsAdded) {
  const auto made = make({.capacity = 1'000'000, .error_rate = 1e-12, .partitions = 1});
  proxy_.cut_every(direction::to_server, piece_bytes / 2);
  const auto distant = distant_client();
  const auto keys = random_.take(5'000);
  const auto got = add_keys(*distant, keys);
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::backend);
  EXPECT_THAT(got.verdicts, testing::Each(verdict::unknown));
  EXPECT_EQ(test::keys_in(*client()), 0u);
  proxy_.cut_every(direction::to_server, 0);
  EXPECT_EQ(fresh_in(add_keys(*distant, keys)), keys.size());
}

// A link that carries no answer to a request is an outage, however often it is made again.
TEST_F(PoorLink, LinkThatCarriesNoAnswerIsAnOutage) {
  const auto beside = make({.capacity = 4'000'000, .error_rate = 1e-9, .partitions = 1});
  ASSERT_EQ(fresh_in(add_keys(*beside, random_.take(50'000))), 50'000u);
  proxy_.cut_every(direction::to_client, piece_bytes / 2);
  const auto newcomer = distant_client();
  const auto got = check_keys(*newcomer, random_.take(10));
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::backend);
}

/// By every judge.
class PoorLinkToSegments : public JudgedBy {};

TEST_P(PoorLinkToSegments, AllAreCopiedOverIt) {
  const auto filter =
      store_->create("clicks", spec_of({.capacity = 500'000, .error_rate = 1e-6, .partitions = 2}));
  ASSERT_TRUE(add_keys(*filter, random_digests(52).take(40'000)).result);
  cutting_proxy proxy(server_.port());
  proxy.cut_every(cutting_proxy::direction::to_client, bytes_of_a_link);
  const auto distant = store_at(proxy.url("/?retry_for=1s"))->open("clicks", access::read);
  EXPECT_EQ(bits_of(*distant), bits_of(*filter));
  EXPECT_GT(proxy.connections(), 5u);
}

INSTANTIATE_TEST_SUITE_P(Judges, PoorLinkToSegments, ::testing::Values(judges::clients, judges::servers),
                         name_of_judges);

TEST(PoorLinkToAnAttachedFilter, ItsStringIsCopiedOverIt) {
  const test::redis_server server;
  filter near = foreign::attached(*store_at(server.url()), "a",
                                  foreign::attachment_to("bits", foreign::family::gozero, 10'000'019));
  ASSERT_TRUE(foreign::add_to(near, foreign::random_keys(3'000, 53)).result);
  cutting_proxy proxy(server.port());
  proxy.cut_every(cutting_proxy::direction::to_client, bytes_of_a_link);
  const filter distant("a", store_at(proxy.url("?retry_for=1s"))->open("a", access::read));
  EXPECT_EQ(bits_of(distant.stored()), bits_of(near.stored()));
  EXPECT_GT(proxy.connections(), 5u);
}

}  // namespace
}  // namespace everseen::redis
