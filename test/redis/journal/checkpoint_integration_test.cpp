// Checkpoints of filters that their clients judge, while writers pause, crash, and lose the server.

#include <algorithm>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"

#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using ::testing::IsEmpty;

class CheckpointUnderWay : public JudgedByClients {
 protected:
  /// The segment has several pages.
  static constexpr spec_request several_pages{.capacity = 200'000, .error_rate = 1e-9, .partitions = 1};
  static constexpr std::size_t part_of_the_segment = 800'000;

  /// Adds 100 keys, the last of which start a checkpoint, with a client that crashes during the checkpoint.
  void abandon_a_checkpoint(std::size_t after_bytes, event_time time = {}) {
    cutting_proxy proxy(server_.port());
    const auto lost = client_by(proxy, "/?retry_for=0s&timeout=20s");
    answered(check_keys(*lost, random_.take(1), time));
    const auto keys = random_.take(100);
    proxy.hold_after(direction::to_server, after_bytes);
    auto got = add_beside(*lost, keys, time);
    wait_until_held(proxy);
    test::wait_until([&] { return !staged().empty(); }, "a page is there");
    proxy.refuse(true);
    EXPECT_TRUE(got.get().result) << "the keys are in the journal";
    ASSERT_EQ(field("begin"), to_text(journal_position{})) << "the checkpoint was finished";
    keys_.insert(keys_.end(), keys.begin(), keys.end());
  }
  /// Segments that are being written.
  std::vector<std::string> staged() { return keys_like(server_, "everseen:{*/0}:s*"); }
  /// As if the time of the checkpoint's writer had expired.
  void backdate_checkpoint() {
    const std::string holder = field("checkpoint");
    (void)server_.run({"HSET", state_key(), "checkpoint", holder.substr(0, holder.find(' ')) + " 1"});
  }

  random_digests random_{21};
  std::vector<digest> keys_;
};

TEST_F(CheckpointUnderWay, LateWriterIsRefusedAndNothingIsLost) {
  const auto beside = make(several_pages);
  keys_ = fill_to_the_brink(*beside, random_);
  cutting_proxy proxy(server_.port());
  const auto late = client_by(proxy);
  answered(check_keys(*late, keys_));
  const auto of_late = random_.take(100);
  const auto of_other = random_.take(100);
  proxy.hold_after(direction::to_server, part_of_the_segment);
  auto stopped = add_beside(*late, of_late);
  wait_until_held(proxy);
  ASSERT_EQ(field("begin"), to_text(journal_position{}));
  backdate_checkpoint();
  EXPECT_EQ(fresh_in(add_keys(*beside, of_other)), 100u);
  const std::string begin = field("begin");
  EXPECT_NE(begin, to_text(journal_position{})) << "the other one has taken over";
  proxy.release();
  EXPECT_EQ(fresh_in(stopped.get()), 100u);
  EXPECT_EQ(field("begin"), begin);
  const auto newcomer = client();
  for (const auto& some : {keys_, of_late, of_other}) EXPECT_EQ(fresh_in(check_keys(*newcomer, some)), 0u);
  EXPECT_EQ(newcomer->state(0), beside->state(0));
}

TEST_F(CheckpointUnderWay, AbandonedCheckpointIsFinishedByTheNextClient) {
  const auto beside = make(several_pages);
  keys_ = fill_to_the_brink(*beside, random_);
  abandon_a_checkpoint(part_of_the_segment);
  const auto before = random_.take(100);
  EXPECT_EQ(fresh_in(add_keys(*beside, before)), 100u);
  EXPECT_EQ(field("begin"), to_text(journal_position{})) << "the first writer may still return";
  backdate_checkpoint();
  EXPECT_EQ(fresh_in(add_keys(*beside, random_.take(1))), 1u);
  EXPECT_EQ(journal_bytes(), 0u);
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
  EXPECT_EQ(fresh_in(check_keys(*client(), before)), 0u);
}

TEST_F(CheckpointUnderWay, AbandonedCheckpointLeavesNoBitBehindAReset) {
  // Two slices; before the reset the newer one has keys in all of its pages, after it a single key.
  const auto beside =
      make({.capacity = 1'200'000, .error_rate = 1e-9, .window = window_spec{2000ms, 2}, .partitions = 1});
  answered(add_keys(*beside, random_.take(1), event_time(0ms)));
  const auto old = random_.take(20'000);
  answered(add_keys(*beside, old, event_time(1000ms)));
  keys_ = fill_to_the_brink(*beside, random_, event_time(0ms));
  // The first segment, and a part of the other one.
  const std::uint64_t segment = beside->state(0).bytes() / 2;
  abandon_a_checkpoint(segment + segment * 3 / 4, event_time(0ms));
  store_->reset("clicks");
  EXPECT_EQ(field("begin"), field("end"));
  const auto later = client();
  answered(add_keys(*later, random_.take(1), event_time(0ms)));
  answered(add_keys(*later, random_.take(1), event_time(1000ms)));
  for (int i = 0; i < 40; ++i) answered(add_keys(*later, random_.take(30'000), event_time(0ms)));
  ASSERT_LT(journal_bytes(), 40u * 30'000 * sizeof(digest)) << "there was a checkpoint";
  EXPECT_EQ(fresh_in(check_keys(*client(), old, event_time(1000ms))), old.size());
}

TEST_F(CheckpointUnderWay, AbandonedCheckpointLeavesNothingBehindADropForMoreThanAMinute) {
  const auto beside = make(several_pages);
  keys_ = fill_to_the_brink(*beside, random_);
  abandon_a_checkpoint(part_of_the_segment);
  store_->drop("clicks");
  EXPECT_EQ(lasting_keys_like(server_, "*"), staged());
  for (const std::string& key : staged()) {
    const std::string left = server_.run({"PTTL", key});
    EXPECT_TRUE(std::stol(left.substr(1)) > 0 && std::stol(left.substr(1)) <= 60'000) << left;
  }
}

TEST_F(CheckpointUnderWay, SegmentsOfTwoAbandonedCheckpointsGoWithTheNextWhoseBeginningIsSentTwice) {
  // The first checkpoint has placed the segment of the first slice, the second one that of the third slice.
  const auto beside =
      make({.capacity = 1'200'000, .error_rate = 1e-9, .window = window_spec{2000ms, 2}, .partitions = 1});
  answered(add_keys(*beside, random_.take(20'000), event_time(0ms)));
  keys_ = fill_to_the_brink(*beside, random_, event_time(1000ms));
  const std::uint64_t segment = beside->state(0).bytes() / 2;
  const auto slice = [&](int number) { return state_key() + ":" + std::to_string(number) + ".0"; };
  const auto is_there = [&](int number) { return server_.run({"EXISTS", slice(number)}) == "1"; };
  abandon_a_checkpoint(segment + segment * 3 / 4, event_time(1000ms));
  ASSERT_TRUE(is_there(0));
  answered(add_keys(*beside, random_.take(180'000), event_time(2000ms)));
  answered(add_keys(*beside, random_.take(180'000), event_time(3000ms)));
  backdate_checkpoint();
  abandon_a_checkpoint(2 * segment + segment * 3 / 4, event_time(3000ms));
  ASSERT_TRUE(is_there(2));

  cutting_proxy proxy(server_.port());
  const auto next = client_by(proxy);
  answered(add_keys(*next, random_.take(1), event_time(6000ms)));
  const std::size_t before = proxy.passed(direction::to_client);
  answered(add_keys(*next, random_.take(1), event_time(6000ms)));
  const std::size_t answer = proxy.passed(direction::to_client) - before;
  backdate_checkpoint();
  proxy.cut_after(direction::to_client, answer);  // the answer to the beginning follows
  answered(add_keys(*next, random_.take(1), event_time(6000ms)));
  ASSERT_TRUE(proxy.has_cut());
  ASSERT_NE(field("begin"), to_text(journal_position{})) << "the checkpoint was finished";
  EXPECT_FALSE(is_there(0));
  EXPECT_FALSE(is_there(2));
  EXPECT_TRUE(is_there(6));
}

TEST_F(CheckpointUnderWay, LateCopyOfAStepChangesNothing) {
  const auto beside = make(several_pages);
  (void)server_.run({"HSET", state_key(), "checkpoint", "word.0 99999999999999"});
  const std::string segment = clicks().segment({}), late = clicks().staged(0, "word", 0);
  const auto place = [&](const std::string& bytes) {
    (void)server_.run({"SET", late, bytes, "PX", "60000"});
    return server_
        .run({"EVAL", journal_scripts::place_segment().text, "4", state_key(), late, segment, late + ".pages",
              "word.0", "word.1", "4", "30000", "0"})
        .substr(0, 1);
  };
  EXPECT_EQ(place("full"), "K");
  EXPECT_EQ(place("half"), "K") << "it was done";
  EXPECT_EQ(server_.run({"GET", segment}), "full");
  EXPECT_EQ(server_.run({"PTTL", segment}), "-1");
  EXPECT_THAT(staged(), IsEmpty());
}

TEST_F(CheckpointUnderWay, LeaseOfAServerWhoseClockWasSetBackIsNotWaitedFor) {
  const auto beside = make(several_pages);
  keys_ = fill_to_the_brink(*beside, random_);
  (void)server_.run({"HSET", state_key(), "checkpoint", "word.0 99999999999999"});
  EXPECT_EQ(fresh_in(add_keys(*beside, random_.take(100))), 100u);
  EXPECT_EQ(journal_bytes(), 0u) << "the checkpoint was written";
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
}

// Promise: a failover loses what the replica had not received, and nothing older (guarantees, Crashes).
TEST_F(CheckpointUnderWay, PagesThatAPromotedReplicaLacksAreWrittenAgain) {
  const auto beside = make(several_pages);
  keys_ = fill_to_the_brink(*beside, random_);
  test::redis_server::options o;
  o.config = {"--replicaof", "127.0.0.1", std::to_string(server_.port())};
  const test::redis_server replica(o);
  cutting_proxy proxy(server_.port());
  const auto writer = client_by(proxy, "/?timeout=20s");
  answered(check_keys(*writer, keys_));
  proxy.hold_after(direction::to_server, part_of_the_segment / 2);
  auto got = add_beside(*writer, random_.take(100));
  wait_until_held(proxy);
  ASSERT_FALSE(staged().empty());
  (void)server_.run({"SET", "beat", "1"});
  test::wait_until([&] { return replica.run({"GET", "beat"}) == "1"; }, "the replica is in step");
  (void)replica.run({"REPLICAOF", "NO", "ONE"});
  proxy.hold_after(direction::to_server, part_of_the_segment / 2);
  wait_until_held(proxy);
  proxy.lead_to(replica.port());
  proxy.cut_after(direction::to_server, 0);
  proxy.release();
  EXPECT_TRUE(got.get().result);
  const auto newcomer = store_at(replica.url())->open("clicks", access::read);
  EXPECT_EQ(fresh_in(check_keys(*newcomer, keys_)), 0u);
  EXPECT_NE(replica.run({"HGET", state_key(), "begin"}), to_text(journal_position{}))
      << "the checkpoint was finished";
}

TEST_F(CheckpointUnderWay, RecordThatItsServerLostEndsNoJournal) {
  const auto beside = make(several_pages);
  keys_ = fill_to_the_brink(*beside, random_);
  cutting_proxy proxy(server_.port());
  const auto ahead = client_by(proxy);
  answered(check_keys(*ahead, keys_));
  const std::string kept_end = field("end");
  // The record is acknowledged; the checkpoint after it meets a replica that never received it.
  proxy.hold_after(direction::to_client, 0);
  const auto lost = random_.take(100);
  auto got = add_beside(*ahead, lost);
  // Byte by byte, as a slow client asks for the end of the journal before it appends.
  test::wait_until(
      [&] {
        if (field("end") != kept_end) return true;
        if (proxy.holds()) proxy.hold_after(direction::to_client, 1);
        return false;
      },
      "the record is in the journal");
  wait_until_held(proxy);
  (void)server_.run({"HSET", state_key(), "end", kept_end});
  proxy.release();
  EXPECT_FALSE(got.get().result) << "keys of that time may be fresh again, and this is reported";
  const auto newcomer = client();
  EXPECT_EQ(fresh_in(check_keys(*newcomer, keys_)), 0u);
  const auto more = random_.take(300);
  EXPECT_EQ(fresh_in(add_keys(*newcomer, more)), 300u);
  EXPECT_EQ(fresh_in(add_keys(*ahead, more)), 0u);
  EXPECT_EQ(fresh_in(check_keys(*client(), more)), 0u);
}

TEST_F(CheckpointUnderWay, JournalThatIsTruncatedWhileAClientReadsItIsNotALoss) {
  const auto beside = make({.capacity = 100'000, .error_rate = 0.01, .partitions = 1});
  cutting_proxy proxy(server_.port());
  const auto slow = client_by(proxy);
  EXPECT_EQ(fresh_in(add_keys(*slow, random_.take(10))), 10u);
  const auto unread = random_.take(1000);
  answered(add_keys(*beside, unread));
  // It receives the end of the journal and is stopped before it reads it: `$<bytes>\r\n<end>\r\n` passes.
  proxy.hold_after(direction::to_client, field("end").size() + 7);
  auto got = std::async(std::launch::async, [&] { return check_keys(*slow, unread); });
  wait_until_held(proxy);
  for (int i = 0; i < 40; ++i) answered(add_keys(*beside, random_.take(10'000)));
  ASSERT_EQ(server_.run({"EXISTS", chunk(0)}), "0");
  proxy.release();
  EXPECT_EQ(fresh_in(got.get()), 0u);
}

}  // namespace
}  // namespace everseen::redis
