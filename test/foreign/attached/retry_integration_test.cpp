// A connection to an attached filter that is cut at every byte: no key is reported as seen because its own
// first attempt set its bits.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/foreign/attached/attached.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::foreign {
namespace {

using test::cutting_proxy;
using test::redis_server;
using ::testing::Each;
using ::testing::HasSubstr;
using direction = cutting_proxy::direction;

class AttachedRetry : public ::testing::Test {
 protected:
  redis_server server_;
  cutting_proxy proxy_{server_.port()};
};

/// New keys, one of them repeated.
std::vector<std::string> next_batch(int number) {
  const std::string name = "key " + std::to_string(number);
  return {name + "a", name + "b", name + "a"};
}

const std::vector<verdict> undisturbed = {verdict::fresh, verdict::fresh, verdict::seen};

// Promise: a batch that is cut at any byte gets its first answer (foreign-filters, Attached filters).
TEST_F(AttachedRetry, BatchCutAtEveryByteGetsTheVerdictsOfAnUndisturbedOne) {
  filter f = attached(*store_at(proxy_.url()), "a", attachment_to("shared", family::gozero, 10'000'019));
  int number = 0;
  ASSERT_EQ(add_to(f, next_batch(number)).verdicts, undisturbed);
  for (const direction w : {direction::to_server, direction::to_client}) {
    std::size_t cuts = 0;
    for (bool cut = true; cut && !HasFailure(); ++cuts) {
      proxy_.cut_after(w, cuts);
      const auto got = add_to(f, next_batch(++number));
      ASSERT_TRUE(got.result) << cuts << ": " << got.result.error().message;
      EXPECT_EQ(got.verdicts, undisturbed) << "cut after " << cuts << " bytes";
      cut = proxy_.has_cut();
    }
    EXPECT_GT(cuts, w == direction::to_server ? 200u : 5u);
  }
}

TEST_F(AttachedRetry, ShardsWithOneCutAtEveryByteGiveTheVerdictsOfUndisturbedOnes) {
  const redis_server other;
  const attachment a = [] {
    attachment made = attachment_to("{clicks}", family::bkdr_php, 1'000'003, 8);
    made.shape = attachment::form::sharded;
    return made;
  }();
  const std::string both = "redis://127.0.0.1:" + std::to_string(proxy_.port()) + "," + other.address();
  filter f = attached(*store_at(both), "a", a);
  std::vector<std::string> keys;
  int number = 0;
  const auto add_some = [&] {
    keys.clear();
    for (int i = 0; i < 8; ++i) keys.push_back(std::to_string(number) + " " + std::to_string(i));
    ++number;
    const std::vector<std::string> again = keys;
    keys.insert(keys.end(), again.begin(), again.end());
    return add_to(f, keys);
  };
  std::vector<verdict> expected(8, verdict::fresh);
  expected.insert(expected.end(), 8, verdict::seen);
  ASSERT_EQ(add_some().verdicts, expected);
  bool cut = true;
  for (std::size_t bytes = 0; cut && !HasFailure(); ++bytes) {
    proxy_.cut_after(direction::to_client, bytes);
    const auto got = add_some();
    ASSERT_TRUE(got.result) << got.result.error().message;
    EXPECT_EQ(got.verdicts, expected) << "cut after " << bytes << " bytes";
    cut = proxy_.has_cut();
  }
}

// Promise: a batch that is cut at any byte gets its first answer (foreign-filters, Attached filters).
TEST_F(AttachedRetry, GrowthCutAnywhereGivesTheVerdictsAndStringsOfAnUndisturbedOne) {
  attachment a = attachment_to("base", family::guava64, 256, 3);
  a.shape = attachment::form::growing;
  a.cursor = "cursor";
  const std::vector<std::string> keys = random_keys(400, 7);
  filter undisturbed_one = attached(*store_at(server_.url()), "model", a);
  const auto expected = add_to(undisturbed_one, keys).verdicts;
  const std::string cursor = server_.run({"GET", "cursor"});
  const std::string last = server_.run({"GET", "base-" + cursor});
  ASSERT_GT(std::stoi(cursor), 2);
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t bytes = 0; cut && !HasFailure(); bytes += w == direction::to_server ? 397 : 3) {
      server_.run({"FLUSHALL"});
      filter f = attached(*store_at(proxy_.url()), "a", a);
      proxy_.cut_after(w, bytes);
      const auto got = add_to(f, keys);
      ASSERT_TRUE(got.result) << got.result.error().message;
      EXPECT_EQ(got.verdicts, expected) << "cut after " << bytes << " bytes";
      EXPECT_EQ(server_.run({"GET", "cursor"}), cursor);
      EXPECT_TRUE(server_.run({"GET", "base-" + cursor}) == last);
      cut = proxy_.has_cut();
    }
  }
}

TEST_F(AttachedRetry, LookUpCutAnywhereIsAnswered) {
  for (const char* commands : {"?commands=script", "?commands=bitfield"}) {
    server_.run({"FLUSHALL"});
    filter f = attached(*store_at(proxy_.url(commands)), "a", attachment_to("shared", family::gozero));
    const std::vector<std::string> keys = {"one", "two"};
    ASSERT_TRUE(add_to(f, keys).result);
    for (const direction w : {direction::to_server, direction::to_client}) {
      bool cut = true;
      for (std::size_t bytes = 0; cut && !HasFailure(); bytes += w == direction::to_server ? 37 : 1) {
        proxy_.cut_after(w, bytes);
        EXPECT_THAT(look_in(f, keys).verdicts, Each(verdict::seen)) << commands << ' ' << bytes;
        cut = proxy_.has_cut();
      }
    }
  }
}

TEST_F(AttachedRetry, ServerThatLostItsScriptsAnswersAgain) {
  filter f = attached(*store_at(proxy_.url()), "a", attachment_to("shared", family::gozero, 10'000'019));
  ASSERT_EQ(add_to(f, next_batch(0)).verdicts, undisturbed);
  proxy_.cut_after(direction::to_client, 0);  // the batch is judged, and its answer lost
  server_.run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(add_to(f, next_batch(1)).verdicts, undisturbed);
}

// Promise: a seen key is acknowledged once the replicas have it, whichever client added it (redis, Replicas).
TEST_F(AttachedRetry, KeyOfAnotherProgramIsAcknowledgedOnceTheReplicaHasIt) {
  server_.run({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
  redis_server::options o;
  o.config = {"--replicaof", "127.0.0.1", std::to_string(server_.port())};
  redis_server replica(o);
  test::wait_until([&] { return server_.run({"WAIT", "1", "100"}) == "1"; }, "the replica is in step");
  attach(store_at(server_.url())->servers(), "a", attachment_to("shared", family::gozero),
         missing_key::create);
  const std::vector<std::string> other = {"other"};
  for (const std::string commands : {"script", "bitfield"}) {
    const std::vector<std::string> key = {"by " + commands};
    filter theirs("a", store_at(server_.url())->open("a", access::write));
    filter waiting("a", store_at(server_.url("?wait=1&timeout=3s&retry_for=100ms&commands=" + commands))
                            ->open("a", access::write));
    test::wait_until([&] { return add_to(waiting, other).result.has_value(); }, "the replica is in step");
    replica.pause();
    ASSERT_TRUE(add_to(theirs, key).result);
    const auto got = add_to(waiting, key);
    ASSERT_FALSE(got.result) << commands;
    EXPECT_THAT(got.result.error().message, HasSubstr("only 0 of the 1 replicas"));
    EXPECT_THAT(got.verdicts, Each(verdict::unknown));
    replica.resume();
  }
}

// Promise: without scripts a batch whose answer is lost is unknown (foreign-filters, Attached filters).
TEST_F(AttachedRetry, WithoutScriptsABatchWhoseAnswerIsLostIsUnknown) {
  filter f =
      attached(*store_at(proxy_.url("?commands=bitfield")), "a", attachment_to("shared", family::gozero));
  int number = 0;
  ASSERT_EQ(add_to(f, next_batch(number)).verdicts, undisturbed);
  std::size_t unknown = 0;
  bool cut = true;
  for (std::size_t bytes = 0; cut && !HasFailure(); bytes += 1) {
    proxy_.cut_after(direction::to_client, bytes);
    const auto got = add_to(f, next_batch(++number));
    cut = proxy_.has_cut();
    if (got.result) {
      EXPECT_EQ(got.verdicts, undisturbed) << bytes;
      continue;
    }
    ++unknown;
    EXPECT_THAT(got.result.error().message, HasSubstr("some of the keys may have been added")) << bytes;
    EXPECT_THAT(got.verdicts, Each(verdict::unknown)) << bytes;
    EXPECT_EQ(got.result.error().done.unknown, 3u) << bytes;
  }
  EXPECT_GT(unknown, 10u);
}

TEST_F(AttachedRetry, RememberedAnswersExpire) {
  filter f = attached(*store_at(server_.url()), "a", attachment_to("shared", family::gozero));
  f.add("one");
  const std::string token = key_like(server_, "everseen:" + id_at(server_, "a") + ":{shared}shared:t:*");
  EXPECT_THAT(std::stoi(server_.run({"TTL", token})),
              ::testing::AllOf(::testing::Gt(500), ::testing::Le(600)));
}

}  // namespace
}  // namespace everseen::foreign
