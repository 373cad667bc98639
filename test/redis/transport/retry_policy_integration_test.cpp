// Which requests wait for an unavailable server, and for how long.

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/transport/server_connections.hpp"

#include "test/redis/transport/talking.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::redis_server;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using clock = std::chrono::steady_clock;

/// Continues for the given number of attempts, and records its arguments.
class counting_policy final : public retry_policy {
 public:
  explicit counting_policy(int attempts) : left_(attempts) {}

  bool tries_again(const outage& trouble) override {
    why = trouble.why;
    lasted = trouble.lasted;
    return left_-- > 0;
  }
  void on_recovered() override { ++ends; }

  std::string why;
  std::chrono::milliseconds lasted{};
  int ends = 0;

 private:
  int left_;
};

TEST(RetryPolicy, RetriesLongerThanTheUrlSays) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?retry_for=0s")));
  s.ask({}, {"PING"});
  const auto waiting = std::make_shared<counting_policy>(1'000'000);
  s.wait_with(waiting);
  server.kill();
  std::jthread later([&] {
    std::this_thread::sleep_for(700ms);
    server.start();
  });
  EXPECT_TRUE(exchange_one(s, repeatable({"SETBIT", "k", "7", "1"})));
  EXPECT_THAT(waiting->why, HasSubstr(server.address()));
  EXPECT_GE(waiting->lasted, 300ms);
  EXPECT_EQ(waiting->ends, 1);
  EXPECT_TRUE(exchange_one(s, repeatable({"PING"})));
  EXPECT_EQ(waiting->ends, 1) << "there was no outage since";
}

TEST(RetryPolicy, CountsTheSilenceOfTheFirstAttempt) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?timeout=2s&connect_timeout=2s")));
  const auto waiting = std::make_shared<counting_policy>(0);
  s.wait_with(waiting);
  server.pause();
  EXPECT_FALSE(exchange_one(s, repeatable({"PING"}))) << "no connection";
  EXPECT_GE(waiting->lasted, 1'500ms);
  server.resume();
  EXPECT_TRUE(exchange_one(s, repeatable({"PING"})));
  server.pause();
  EXPECT_FALSE(exchange_one(s, repeatable({"PING"}))) << "no answer";
  server.resume();
  EXPECT_GE(waiting->lasted, 1'500ms);
}

TEST(RetryPolicy, EndsTheWaitAtTheAttemptItChooses) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?retry_for=1m")));
  const auto waiting = std::make_shared<counting_policy>(3);
  s.wait_with(waiting);
  server.stop();
  const auto begin = clock::now();
  EXPECT_THAT(outage_of(s, repeatable({"PING"})).message, HasSubstr(server.address()));
  EXPECT_LT(clock::now() - begin, 50s);
  EXPECT_EQ(waiting->ends, 0);
}

TEST(RetryPolicy, IsThatOfTheUrlAgainWithoutACallback) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?retry_for=0s")));
  const auto waiting = std::make_shared<counting_policy>(1'000'000);
  s.wait_with(waiting);
  s.wait_with(nullptr);
  server.stop();
  EXPECT_THAT(outage_of(s, repeatable({"PING"})).message, HasSubstr(server.address()));
  EXPECT_EQ(waiting->why, "");
}

// Promise: a batch that may have run is not sent again after its answer was forgotten (dedup, Outages).
TEST(RetryPolicy, DoesNotResendABatchThatTheServerMayHaveRunAndForgotten) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?timeout=200ms&connect_timeout=200ms")));
  s.ask({}, {"PING"});
  s.wait_with(std::make_shared<counting_policy>(1'000'000));
  request added = of({"INCR", "n"});
  added.repeatable = repetition(3s);  // of these, some 1.6 s remain after time limits and a pause
  server.pause();
  const outage told = outage_of(s, added);
  server.resume();
  EXPECT_TRUE(told.may_have_run);
  EXPECT_THAT(told.message, HasSubstr("forgotten"));
}

TEST(RetryPolicy, ResendsIndefinitelyIfTheServerCannotHaveRunIt) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?timeout=200ms&connect_timeout=200ms")));
  s.wait_with(std::make_shared<counting_policy>(1'000'000));
  request added = of({"INCR", "n"});
  added.repeatable = repetition(1ms);
  server.kill();
  std::jthread later([&] {
    std::this_thread::sleep_for(300ms);
    server.start();
  });
  EXPECT_TRUE(exchange_one(s, added));
  EXPECT_EQ(server.run({"GET", "n"}), "1");
}

TEST(RetryPolicy, ResendsIndefinitelyIfADemotedMasterRefusedIt) {
  const redis_server server;
  server_connections s(parse_redis_url(server.url()));
  s.ask({}, {"PING"});
  s.wait_with(std::make_shared<counting_policy>(1'000'000));
  server.run({"REPLICAOF", "127.0.0.1", std::to_string(test::free_port())});
  std::jthread later([&] {
    std::this_thread::sleep_for(300ms);
    server.run({"REPLICAOF", "NO", "ONE"});
  });
  const request r{{}, encode({"INCR", "n"}) + encode({"INCR", "n"}), 2, false};
  const answer a = exchange_one(s, r);
  ASSERT_TRUE(a) << a.error().message;
  // Each ran once, in either order: the two are resent independently.
  EXPECT_THAT((std::vector{a.value()[0].integer(), a.value()[1].integer()}), UnorderedElementsAre(1, 2));
}

}  // namespace
}  // namespace everseen::redis
