// Filters that their clients judge: records so long that each is in a chunk of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/claimed_events.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::claim_events;
using test::event;
using test::random_digests;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Of keys without a window, with short digests.
constexpr std::uint64_t record_of(std::size_t keys) noexcept {
  return 32 + 16 + short_key_bytes * keys + 8;
}

class LongRecords : public JudgedByClients {
 protected:
  /// Adds that many new keys.
  void add(stored_filter& filter, std::size_t n) {
    const auto keys = random_.take(n);
    ASSERT_EQ(fresh_in(add_keys(filter, keys)), n);
    all_.insert(all_.end(), keys.begin(), keys.end());
  }
  void expect_that_others_know_all(const stored_filter& like) {
    const auto newcomer = client();
    EXPECT_EQ(fresh_in(check_keys(*newcomer, all_)), 0u);
    EXPECT_EQ(newcomer->state(0), like.state(0));
    EXPECT_EQ(test::keys_in(*newcomer), all_.size());
  }
  std::vector<std::uint64_t> lengths_of_chunks() {
    std::vector<std::uint64_t> lengths;
    for (std::uint64_t n = 0; server_.run({"EXISTS", chunk(n)}) == "1"; ++n)
      lengths.push_back(length_of(chunk(n)));
    return lengths;
  }

  random_digests random_{91};
  std::vector<digest> all_;
};

TEST_F(LongRecords, AreInSeparateChunksWithShortOnesAfterThem) {
  const auto filter = make({.capacity = 100'000, .error_rate = 1e-9, .partitions = 1});
  for (const std::size_t n : {10ul, many, 20ul, 30ul, many + 1, many + 2}) add(*filter, n);
  const std::uint64_t behind = record_of(20) + record_of(30);
  EXPECT_THAT(lengths_of_chunks(), ElementsAre(record_of(10) + 1, record_of(many) + behind + 1,
                                               record_of(many + 1) + 1, record_of(many + 2) + 1));
  EXPECT_EQ(parse_journal_position(field("end"))->offset, 3 * journal_chunk_bytes + record_of(many + 2));
  std::vector<std::string> limits;
  for (std::uint64_t n = 0; n < 4; ++n) limits.push_back(server_.run({"TTL", chunk(n)}));
  EXPECT_THAT(limits, Each("-1"));
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:s*"), IsEmpty());
  expect_that_others_know_all(*filter);
}

TEST_F(LongRecords, BeginWhereTheJournalBeginsIfItIsEmpty) {
  const auto filter = make({.capacity = 100'000, .error_rate = 1e-9, .partitions = 1});
  add(*filter, many);
  EXPECT_EQ(parse_journal_position(field("end"))->offset, record_of(many));
  expect_that_others_know_all(*filter);
}

TEST_F(LongRecords, AreReadLikeShortOnesByClientsThatAreBehind) {
  (void)make({.capacity = 40'000, .error_rate = 1e-12, .partitions = 1});
  const std::vector<std::shared_ptr<stored_filter>> clients = {client(), client(), client()};
  constexpr std::size_t edge = long_record_bytes / sizeof(digest);
  const std::size_t sizes[] = {1,        100,      edge - 18, edge - 5, edge - 4, edge - 3,
                               edge - 2, edge - 1, edge,      3000,     5000,     70'000};
  for (int step = 0; step < 60; ++step) {
    const auto keys = random_.take(sizes[random_.word() % std::size(sizes)]);
    auto& writer = *clients[random_.word() % clients.size()];
    const auto& in = *clients[random_.word() % clients.size()];
    ASSERT_EQ(fresh_in(add_keys(writer, keys)), keys.size()) << step;
    ASSERT_EQ(fresh_in(check_keys(in, keys)), 0u) << step;
    all_.insert(all_.end(), keys.begin(), keys.end());
  }
  EXPECT_NE(field("begin"), to_text(journal_position{})) << "there were checkpoints";
  for (const auto& each : clients) EXPECT_EQ(fresh_in(check_keys(*each, all_)), 0u);
  expect_that_others_know_all(*clients[0]);
}

TEST_F(LongRecords, FollowShortOnesThatCrossTheBoundaryOfAChunk) {
  // Enough bits that the journal is not truncated meanwhile.
  const auto filter = make({.capacity = 1'100'000, .error_rate = 1e-9, .partitions = 1});
  const auto behind = client();
  for (std::uint64_t i = 0; i <= journal_chunk_bytes / record_of(not_many); ++i) add(*filter, not_many);
  ASSERT_EQ(field("begin"), to_text(journal_position{}));
  const std::uint64_t over = parse_journal_position(field("end"))->offset - journal_chunk_bytes;
  ASSERT_LT(over, record_of(not_many));
  add(*filter, many);
  add(*filter, 5);
  EXPECT_THAT(lengths_of_chunks(),
              ElementsAre(journal_chunk_bytes, over + 1, record_of(many) + record_of(5)));
  EXPECT_EQ(fresh_in(check_keys(*behind, all_)), 0u);
  expect_that_others_know_all(*filter);
}

TEST_F(LongRecords, MayBeHundredsForANewClientToRead) {
  const auto filter = make({.capacity = 1'100'000, .error_rate = 1e-9, .partitions = 1});
  for (int i = 0; i < 270; ++i) add(*filter, i % 50 == 7 ? 30 : many);
  ASSERT_EQ(field("begin"), to_text(journal_position{}));
  ASSERT_GT(keys_like(server_, "everseen:{*/0}:j*").size(), 256u);
  expect_that_others_know_all(*filter);
}

TEST_F(LongRecords, CountByTheirBytesAndNotByTheGapsBetweenThem) {
  const auto filter = make({.capacity = 70'000, .error_rate = 1e-6, .partitions = 1});
  const auto beside = client();
  const std::uint64_t least = std::uint64_t{1} << 20;
  for (std::uint64_t i = 0; i < least / record_of(many); ++i) add(i % 2 == 0 ? *filter : *beside, many);
  EXPECT_EQ(field("begin"), to_text(journal_position{}));
  EXPECT_GT(journal_bytes(), 9 * least / 10);
  add(*filter, 2 * many);
  EXPECT_EQ(journal_bytes(), 0u) << "there is a checkpoint";
}

TEST_F(LongRecords, AreTruncatedAtACheckpoint) {
  const auto filter = make({.capacity = 150'000, .error_rate = 1e-9, .partitions = 1});
  all_ = fill_to_the_brink(*filter, random_);
  const auto behind = client();
  answered(check_keys(*behind, all_));
  add(*filter, many);
  EXPECT_EQ(journal_bytes(), 0u);
  const auto last = parse_journal_position(field("end"))->offset / journal_chunk_bytes;
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:j*"), ElementsAre(chunk(last)));
  add(*behind, many);
  add(*filter, many);
  expect_that_others_know_all(*filter);
}

TEST_F(LongRecords, AreRemovedByAResetAndADrop) {
  const auto filter = make({.capacity = 100'000, .error_rate = 1e-9, .partitions = 1});
  for (const std::size_t n : {5ul, many, many}) add(*filter, n);
  // The remains of a server that was killed while it accepted another record.
  (void)server_.run({"SET", chunk(3), std::string(50'000, 'x'), "PX", "60000"});
  store_->reset("clicks");
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:j*"), IsEmpty());
  const auto later = client();
  EXPECT_EQ(fresh_in(add_keys(*later, all_)), all_.size());
  expect_that_others_know_all(*later);
  store_->drop("clicks");
  EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
}

TEST_F(LongRecords, OverwriteTheLeftoversOfAKilledServer) {
  add(*make({.capacity = 100'000, .error_rate = 1e-9, .partitions = 1}), 5);
  // After the end, a record that would fit there; in the next chunk, something that expires.
  const std::string end = field("end");
  answered(add_keys(*client(), random_.take(7)));
  (void)server_.run({"HSET", state_key(), "end", end});
  (void)server_.run({"SET", chunk(1), std::string(100'000, 'x'), "PX", "60000"});
  const auto next = client();
  add(*next, many);
  EXPECT_EQ(server_.run({"TTL", chunk(1)}), "-1");
  expect_that_others_know_all(*next);
}

TEST_F(LongRecords, LeftoversOfAKilledServerDoNotExpireUnderShortRecords) {
  const auto filter = make({.capacity = 1'100'000, .error_rate = 1e-9, .partitions = 1});
  // The server was killed while writing this: the next chunk exists, and expires.
  (void)server_.run({"SET", chunk(0), std::string(100'000, 'x'), "PX", "60000"});
  (void)server_.run({"SET", chunk(1), std::string(100'000, 'x'), "PX", "60000"});
  for (std::uint64_t i = 0; i <= journal_chunk_bytes / record_of(not_many); ++i) add(*filter, not_many);
  for (std::uint64_t n = 0; n < 2; ++n) EXPECT_EQ(server_.run({"TTL", chunk(n)}), "-1") << n;
  expect_that_others_know_all(*filter);
}

class LongClaims : public LongRecords {
 protected:
  std::vector<event> events(std::uint64_t first, std::size_t n) {
    auto all = test::new_events(random_, first, n);
    for (event& e : all) e.counters = {"all"};
    return all;
  }
};

TEST_F(LongClaims, CountOnceThroughInterference) {
  const opened_job one(make({.capacity = 100'000, .error_rate = 1e-12, .partitions = 1}));
  const opened_job other(client());
  const spec& s = one.filter->get_spec();
  std::int64_t fresh = 0;
  for (std::uint64_t first = 0; first < 5 * many; first += many) {
    add(*client(), first % 2 == 0 ? many : 3);
    const auto mine = events(first, many);
    const auto got = claim_events(*one, s, {"one", first}, mine);
    ASSERT_EQ(std::ranges::count(got.verdicts, verdict::fresh), static_cast<std::ptrdiff_t>(many));
    const auto theirs = claim_events(*other, s, {"two", first}, mine);
    ASSERT_EQ(std::ranges::count(theirs.verdicts, verdict::seen), static_cast<std::ptrdiff_t>(many));
    const auto again = claim_events(*opened_job(client()), s, {"one", first}, mine);
    ASSERT_EQ(again.verdicts, got.verdicts) << "the same answer as before";
    fresh += static_cast<std::int64_t>(many);
  }
  EXPECT_EQ(test::counters_of(*one), (std::map<std::string, std::int64_t>{{"all", fresh}}));
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:s*"), IsEmpty());
}

TEST_F(LongClaims, OfALaneThatHasMovedOnLeaveNothing) {
  const opened_job late(make({.capacity = 100'000, .error_rate = 1e-12, .partitions = 1}));
  const spec& s = late.filter->get_spec();
  const auto first = events(0, 10);
  (void)claim_events(*late, s, {"lane", 0}, first);
  const auto next = events(10, many);
  (void)claim_events(*opened_job(client()), s, {"lane", 0}, next);
  const auto got = claim_events(*late, s, {"lane", 0}, next);
  EXPECT_EQ(std::ranges::count(got.verdicts, verdict::fresh), static_cast<std::ptrdiff_t>(many));
  const std::string end = field("end");
  store_->end_job("clicks", "count");
  EXPECT_FALSE(claim_events(*late, s, {"lane", 0}, events(10 + many, many)).result);
  EXPECT_EQ(field("end"), end);
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:s*"), IsEmpty());
}

}  // namespace
}  // namespace everseen::redis
