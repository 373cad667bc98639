// MULTI and EXEC beside other clients.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/server/replies.hpp"
#include "test/server/serving.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using clock = std::chrono::steady_clock;

class Transactions : public testing::TestWithParam<const char*> {
 protected:
  static std::string store(const redis_server& redis) {
    return std::string(GetParam()) == "redis" ? redis.unix_url() : "mem:";
  }
  redis_server redis_{};
  serving server_{store(redis_), {"--threads", "2"}};
};
INSTANTIATE_TEST_SUITE_P(Stores, Transactions, testing::Values("mem", "redis"),
                         [](const auto& one) { return std::string(one.param); });

/// Each transaction creates a filter with a key and removes it, so that none exists between transactions.
/// Other clients look for it continually, in both ways into the server: batches and single requests.
// Promise: nothing runs between the requests of an EXEC (operations, Bloom commands).
TEST_P(Transactions, AreIsolatedFromOtherClients) {
  std::atomic<bool> over = false;
  std::atomic<int> seen = 0, looked = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&, i] {
      raw_client client(server_.path());
      while (!over) {
        const std::string said = i == 0 ? client.ask("EXISTS a\r\n", 4) : client.ask("BF.EXISTS a x\r\n", 4);
        if (said != ":0\r\n") ++seen;
        ++looked;
      }
    });
  raw_client client(server_.path());
  const std::string reply = "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:1\r\n:1\r\n:1\r\n";
  for (int i = 0; i < 200 || looked < 300; ++i)
    ASSERT_EQ(client.ask("MULTI\r\nBF.ADD a x\r\nBF.EXISTS a x\r\nDEL a\r\nEXEC\r\n", reply.size()), reply);
  over = true;
  for (std::thread& each : others) each.join();
  EXPECT_EQ(seen, 0);
}

TEST_P(Transactions, OfManyClientsRunOneAfterTheOther) {
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      raw_client client(server_.path());
      const std::string reply = "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:0\r\n:1\r\n:1\r\n";
      for (int k = 0; k < 30; ++k)
        if (client.ask("MULTI\r\nEXISTS a\r\nBF.ADD a x\r\nDEL a\r\nEXEC\r\n", reply.size()) != reply)
          ++wrong;
    });
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Transactions, BlockNobodyWhenTheirClientDisconnects) {
  for (int i = 0; i < 50; ++i) {
    raw_client gone(server_.path());
    gone.send("MULTI\r\nBF.ADD a x\r\nRENAME a b\r\nBF.ADD a y\r\nDEL a b\r\nEXEC\r\n");
  }
  raw_client client(server_.path());
  EXPECT_EQ(client.ask("BF.ADD c x\r\n", 4), ":1\r\n");
  EXPECT_EQ(client.ask("MULTI\r\nPING\r\nEXEC\r\n", 25), "+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n");
}

// Promise: EXEC runs nothing if a watched filter has changed (operations, Bloom commands).
TEST_P(Transactions, RunNothingOnceAWatchedFilterHasChanged) {
  raw_client client(server_.path()), other(server_.path());
  const auto runs = [&](const std::string& change) {
    EXPECT_EQ(ask(client, "WATCH a b").text, "OK");
    if (!change.empty()) {
      EXPECT_FALSE(ask(other, change).is_error()) << change;
    }
    EXPECT_EQ(ask(client, "MULTI").text, "OK");
    EXPECT_EQ(ask(client, "BF.CARD a").text, "QUEUED");
    const reply said = ask(client, "EXEC");
    EXPECT_EQ(said.is_null, said.parts.empty());
    if (said.is_null) {
      EXPECT_EQ(said.type, '*');
    }
    return !said.is_null;
  };
  EXPECT_TRUE(runs("")) << "there is no filter, before and after";
  EXPECT_FALSE(runs("BF.ADD a x"));
  EXPECT_TRUE(runs(""));
  EXPECT_TRUE(runs("BF.ADD a x")) << "a seen key changes nothing";
  EXPECT_TRUE(runs("BF.EXISTS a y"));
  EXPECT_FALSE(runs("BF.MADD a x y"));
  EXPECT_FALSE(runs("EXPIRE a 1000"));
  EXPECT_FALSE(runs("PERSIST a"));
  EXPECT_FALSE(runs("BF.RESERVE b 0.01 100"));
  EXPECT_FALSE(runs("RENAME a c"));
  EXPECT_FALSE(runs("RENAME c a"));
  EXPECT_TRUE(runs("BF.ADD c x"));
  EXPECT_FALSE(runs("DEL a"));
  EXPECT_TRUE(runs(""));
}

TEST_P(Transactions, RunNothingIfAWatchedFilterWasRecreated) {
  raw_client client(server_.path()), other(server_.path());
  ask(other, "BF.ADD a x");
  EXPECT_EQ(ask(client, "WATCH a").text, "OK");
  ask(other, "DEL a");
  ask(other, "BF.ADD a x");
  ask(client, "MULTI");
  ask(client, "BF.ADD a z");
  EXPECT_TRUE(ask(client, "EXEC").is_null);
  EXPECT_EQ(ask(other, "BF.EXISTS a z").text, "0");
}

TEST_P(Transactions, StopWatchingAfterExecDiscardUnwatchAndReset) {
  raw_client client(server_.path()), other(server_.path());
  int key = 0;
  for (const std::string end :
       {"UNWATCH", "MULTI\r\nDISCARD", "MULTI\r\nEXEC", "RESET", "MULTI\r\nnonsense\r\nEXEC"}) {
    EXPECT_EQ(ask(client, "WATCH a").text, "OK");
    client.send(end + "\r\nPING\r\n");
    while (receive_reply(client).text != "PONG") {
    }
    EXPECT_EQ(ask(other, "BF.ADD a " + std::to_string(++key)).text, "1");
    ask(client, "MULTI");
    ask(client, "PING");
    EXPECT_FALSE(ask(client, "EXEC").is_null) << end;
  }
}

TEST_P(Transactions, KeepWatchingAfterADiscardWithoutMulti) {
  raw_client client(server_.path()), other(server_.path());
  EXPECT_EQ(ask(client, "WATCH a").text, "OK");
  EXPECT_EQ(ask(client, "DISCARD").text, "ERR DISCARD without MULTI");
  EXPECT_EQ(ask(client, "EXEC").text, "ERR EXEC without MULTI");
  ask(other, "BF.ADD a x");
  ask(client, "MULTI");
  ask(client, "PING");
  EXPECT_TRUE(ask(client, "EXEC").is_null);
}

// Promise: a connection watches at most 256 filters (operations, Bloom commands).
TEST_P(Transactions, WatchAtMost256Filters) {
  raw_client client(server_.path());
  std::string request = "WATCH";
  for (int i = 0; i < 256; ++i) request += " " + std::to_string(i);
  EXPECT_EQ(ask(client, request).text, "OK");
  EXPECT_EQ(ask(client, request).text, "OK") << "these are already watched";
  EXPECT_EQ(ask(client, "WATCH more").text, "ERR a connection watches at most 256 filters");
  EXPECT_EQ(ask(client, "UNWATCH").text, "OK");
  EXPECT_EQ(ask(client, "WATCH more").text, "OK");
}

// Promise: an attached filter cannot be watched (operations, Bloom commands).
TEST(TransactionsOfAttachedFilters, CannotWatchThem) {
  redis_server redis;
  redis.run({"CONFIG", "SET", "appendonly", "yes"});
  const program_result made = run_program({test::everseen_program(), "attach", "a", "--as", "gozero",
                                           "--bits", "1000000", "--key", "bits", "--create"},
                                          {.environment = {{"EVERSEEN_STORE", redis.unix_url()}}});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const serving server(redis.unix_url());
  raw_client client(server.path());
  EXPECT_THAT(ask(client, "WATCH a").text, HasSubstr("it is attached"));
  EXPECT_EQ(ask(client, "WATCH b").text, "OK");
}

TEST(TransactionsOfTwoServers, RunNothingOnceAWatchedFilterHasChangedInTheStore) {
  const redis_server redis;
  const serving one(redis.unix_url()), two(redis.unix_url());
  raw_client client(one.path()), other(two.path());
  ask(other, "BF.ADD a x");
  ask(client, "HELLO 3");
  ask(client, "WATCH a");
  ask(other, "BF.ADD a y");
  ask(client, "MULTI");
  ask(client, "BF.CARD a");
  const reply said = ask(client, "EXEC");
  EXPECT_TRUE(said.is_null);
  EXPECT_EQ(said.type, '_');
}

TEST(TransactionsOfTwoServers, RunNothingOnceAnotherServerHasGivenTheNameToAnotherFilter) {
  const redis_server redis;
  const serving one(redis.unix_url()), two(redis.unix_url());
  raw_client client(one.path()), other(two.path());
  ask(other, "BF.ADD a x");
  ask(other, "BF.ADD b x");
  EXPECT_EQ(ask(client, "WATCH a").text, "OK");
  EXPECT_EQ(ask(other, "RENAME b a").text, "OK");
  ask(client, "MULTI");
  ask(client, "BF.ADD a y");
  EXPECT_TRUE(ask(client, "EXEC").is_null);
  EXPECT_EQ(ask(other, "BF.EXISTS a y").text, "0");

  EXPECT_EQ(ask(client, "WATCH a").text, "OK") << "it opens the new one";
  EXPECT_EQ(ask(other, "RENAME a c").text, "OK");
  ask(client, "MULTI");
  ask(client, "PING");
  EXPECT_TRUE(ask(client, "EXEC").is_null) << "there is none of this name now";
}

std::string repeated(const std::string& request, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += request;
  return all;
}

// Promise: an outage holds an EXEC up once, and others no longer than that (operations, Bloom commands).
TEST(TransactionsBesideASlowReader, AreRunAndSoAreLaterRequests) {
  serving server("mem:", {"--max-output", "8388608"});
  raw_client client(server.path()), silent(server.path());
  ASSERT_EQ(client.ask("BF.ADD a x\r\n", 4), ":1\r\n");
  const std::string requests = repeated("BF.INFO a\r\n", 200'000);
  ASSERT_LT(silent.send_what_fits(requests, 1s), requests.size()) << "the server should accept no more";
  EXPECT_EQ(client.ask("MULTI\r\nBF.ADD a y\r\nEXEC\r\n", 22), "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
  EXPECT_EQ(client.ask("BF.ADD a z\r\n", 4), ":1\r\n");
}

TEST(Transaction, IsAnsweredThoughTheAnswerExceedsTheBufferOfAClient) {
  serving server("mem:", {"--max-output", "65536"});
  raw_client client(server.path());
  ASSERT_EQ(client.ask("BF.ADD a x\r\n", 4), ":1\r\n");
  constexpr int requests = 1000;
  client.send("MULTI\r\n" + repeated("BF.INFO a\r\n", requests) + "EXEC\r\nQUIT\r\n");
  const std::string said = client.receive_all();
  EXPECT_GT(said.size(), 64U << 10);
  EXPECT_THAT(said, HasSubstr("*1000\r\n"));
  EXPECT_TRUE(said.ends_with("+OK\r\n"))
      << said.substr(said.size() - std::min<std::size_t>(said.size(), 100));
}

// Promise: an outage holds an EXEC up once, and others no longer than that (operations, Bloom commands).
TEST(TransactionsInAnOutage, DelayOneRequestOfAPipelineAndNotAll) {
  redis_server redis;
  serving server(redis.url("/?retry_for=1s&timeout=1s"));
  raw_client client(server.path()), other(server.path());
  ASSERT_EQ(client.ask("BF.ADD a x\r\n", 4), ":1\r\n");
  redis.stop();
  const auto began = clock::now();
  client.send(repeated("TTL a\r\n", 20));
  EXPECT_THAT(client.receive(7), StartsWith("-OUTAGE"));
  other.send("MULTI\r\nPING\r\nEXEC\r\n");
  EXPECT_EQ(other.receive(25), "+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n");
  EXPECT_LT(clock::now() - began, 18s) << "each of twenty would wait for a second";
}

// Promise: an outage holds an EXEC up once, and others no longer than that (operations, Bloom commands).
TEST(TransactionsInAnOutage, RetryThroughOneOutageAndNotOneForEachRequest) {
  redis_server redis;
  serving server(redis.url("/?retry_for=4s&timeout=1s"));
  raw_client client(server.path());
  ASSERT_EQ(client.ask("BF.ADD a x\r\n", 4), ":1\r\n");
  redis.stop();
  raw_client other(server.path()), third(server.path());
  const auto began = clock::now();
  client.send(
      "MULTI\r\nBF.ADD a y\r\nBF.ADD b y\r\nBF.ADD c y\r\nBF.ADD d y\r\nBF.ADD e y\r\nPING\r\nEXEC\r\n");
  std::this_thread::sleep_for(100ms);
  other.send("BF.EXISTS a x\r\n");
  EXPECT_EQ(third.ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_LT(clock::now() - began, 3500ms) << "requests without a filter do not wait";
  EXPECT_THAT(other.receive(8), StartsWith("-OUTAGE"));
  EXPECT_LT(clock::now() - began, 16s) << "each of five would wait for four seconds";
  const std::string queued = "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n";
  client.receive(queued.size());
  std::string said = client.receive(5);
  while (said.find("+PONG") == std::string::npos) said += client.receive(1);
  EXPECT_THAT(said, StartsWith("*6\r\n"));
  EXPECT_THAT(said, HasSubstr("-OUTAGE not run"));
  const auto stopping = clock::now();
  EXPECT_EQ(server.stop().exit_code, 0);
  EXPECT_LT(clock::now() - stopping, 15s);
}

}  // namespace
}  // namespace everseen::test
