// MULTI and EXEC beside other clients, and in an outage.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
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

TEST_P(Transactions, BlockNobodyWhenTheirClientDisconnects) {
  for (int i = 0; i < 50; ++i) {
    raw_client gone(server_.path());
    gone.send("MULTI\r\nBF.ADD a x\r\nRENAME a b\r\nBF.ADD a y\r\nDEL a b\r\nEXEC\r\n");
  }
  raw_client client(server_.path());
  EXPECT_EQ(client.ask("BF.ADD c x\r\n", 4), ":1\r\n");
  EXPECT_EQ(client.ask("MULTI\r\nPING\r\nEXEC\r\n", 25), "+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n");
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

// Promise: when the answers of an EXEC exceed --max-output, its later requests are not run (operations,
// Limits).
TEST(Transaction, IsAnsweredButNotRunAnyFurtherWhenTheAnswerExceedsTheBufferOfAClient) {
  serving server("mem:", {"--max-output", "65536"});
  raw_client client(server.path());
  ASSERT_EQ(client.ask("BF.ADD a x\r\n", 4), ":1\r\n");
  constexpr std::size_t requests = 2000;
  client.send("MULTI\r\n" + repeated("BF.INFO a\r\n", requests - 1) + "BF.ADD a y\r\nEXEC\r\n");
  client.receive(5 + 9 * requests);  // +OK, +QUEUED
  const reply all = receive_reply(client);
  ASSERT_EQ(all.parts.size(), requests);
  const auto first = std::ranges::find_if(all.parts, &reply::is_error);
  EXPECT_GT(first - all.parts.begin(), 100) << "those that fit are run";
  for (auto each = first; each != all.parts.end(); ++each)
    ASSERT_EQ(each->text, "ERR not run: the answers before it in this transaction exceed --max-output");
  EXPECT_EQ(ask(client, "BF.EXISTS a y").text, "0");
  EXPECT_EQ(ask(client, "BF.ADD a y").text, "1") << "the connection continues";
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
  std::string answers = client.receive(5);
  while (answers.find("+PONG") == std::string::npos) answers += client.receive(1);
  EXPECT_THAT(answers, StartsWith("*6\r\n"));
  EXPECT_THAT(answers, HasSubstr("-OUTAGE not run"));
  const auto stopping = clock::now();
  EXPECT_EQ(server.stop().exit_code, 0);
  EXPECT_LT(clock::now() - stopping, 15s);
}

}  // namespace
}  // namespace everseen::test
