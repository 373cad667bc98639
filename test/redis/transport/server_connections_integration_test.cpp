// One and many instances: exchange, ask, pipelines, threads.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/transport/server_connections.hpp"

#include "test/redis/transport/talking.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::redis {
namespace {

using test::redis_server;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Session, AsksOverTcpAndUnixSocket) {
  const redis_server server;
  server_connections tcp(parse_redis_url(server.url()));
  server_connections unix_socket(parse_redis_url(server.unix_url()));
  EXPECT_EQ(tcp.ask({}, {"SET", "k", "v"}).text(), "OK");
  EXPECT_EQ(unix_socket.ask({}, {"GET", "k"}).text(), "v");
  EXPECT_EQ(tcp.server_of({}).port, server.port());
}

TEST(Session, AnswersInTheOrderOfTheRequests) {
  const redis_server server;
  server_connections s(parse_redis_url(server.url()));
  std::vector<request> requests;
  for (int i = 0; i < 1000; ++i) requests.push_back(of({"ECHO", std::to_string(i)}));
  const auto answers = s.exchange(requests);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(answers[static_cast<std::size_t>(i)].value()[0].text(), std::to_string(i));
}

TEST(Session, OneRequestMayHoldSeveralCommands) {
  const redis_server server;
  server_connections s(parse_redis_url(server.url()));
  const request r{{}, encode({"INCR", "n"}) + encode({"INCR", "n"}) + encode({"LPOP", "n"}), 3, false};
  const auto answers = s.exchange(std::span(&r, 1));
  ASSERT_EQ(answers[0].value().size(), 3U);
  EXPECT_EQ(answers[0].value()[1].integer(), 2);
  EXPECT_TRUE(answers[0].value()[2].is_error("WRONGTYPE"));
}

TEST(Session, NoRequestsGetNoAnswers) {
  server_connections s(parse_redis_url("redis://127.0.0.1:1"));
  EXPECT_TRUE(s.exchange({}).empty());
}

TEST(Session, SelectsTheDatabase) {
  const redis_server server;
  server_connections(parse_redis_url(server.url("/3"))).ask({}, {"SET", "k", "v"});
  EXPECT_EQ(server_connections(parse_redis_url(server.url())).ask({}, {"EXISTS", "k"}).integer(), 0);
  EXPECT_EQ(server_connections(parse_redis_url(server.unix_url("?db=3"))).ask({}, {"EXISTS", "k"}).integer(),
            1);
}

TEST(Session, MissingDatabaseIsReportedImmediately) {
  const redis_server server;
  server_connections s(parse_redis_url(server.url("/99")));
  EXPECT_THAT(outage_of(s, of({"PING"})).message, HasSubstr("DB index is out of range"));
}

TEST(Session, AskThrowsErrorsWithTheNameOfTheServer) {
  const redis_server server;
  server_connections s(parse_redis_url(server.url()));
  try {
    s.ask({}, {"NO-SUCH-COMMAND"});
    FAIL();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), HasSubstr(server.address()));
    EXPECT_THAT(e.what(), HasSubstr("unknown command"));
  }
}

TEST(Session, WrongPasswordIsReportedImmediatelyAndNotShown) {
  redis_server::options o;
  o.password = "right";
  const redis_server server(o);
  server_connections good(parse_redis_url("redis://:right@" + server.address()));
  EXPECT_EQ(good.ask({}, {"PING"}).text(), "PONG");
  server_connections bad(parse_redis_url("redis://:hush@" + server.address()));
  const outage o1 = outage_of(bad, of({"PING"}));
  EXPECT_THAT(o1.message, HasSubstr("WRONGPASS"));
  EXPECT_FALSE(o1.may_have_run);
  server_connections none(parse_redis_url(server.url()));
  EXPECT_THAT(outage_of(none, of({"PING"})).message,
              AllOf(HasSubstr("NOAUTH"), HasSubstr("redis://:PASSWORD@HOST")));
}

TEST(Session, PasswordForAServerWithoutOneIsAnErrorWithAdvice) {
  const redis_server server;
  server_connections s(parse_redis_url("redis://:hush@" + server.address()));
  const outage told = outage_of(s, of({"PING"}));
  EXPECT_THAT(told.message, AllOf(HasSubstr("it has no password set"), HasSubstr("leave the password out")));
  EXPECT_THAT(told.message, ::testing::Not(HasSubstr("hush")));
}

TEST(Session, ServerWithoutAuthDoesNotRevealThePassword) {
  redis_server::options o;
  o.config = {"--rename-command", "AUTH", ""};
  const redis_server server(o);
  server_connections s(parse_redis_url("redis://:hush@" + server.address()));
  const outage told = outage_of(s, of({"PING"}));
  EXPECT_THAT(told.message, HasSubstr("AUTH"));
  EXPECT_THAT(told.message, ::testing::Not(HasSubstr("hush")));
}

TEST(Session, UserWithFewRightsMayUseThem) {
  const redis_server server;
  server.run({"ACL", "SETUSER", "few", "on", ">pw", "~k*", "+get", "+set", "-ping"});
  server_connections s(parse_redis_url("redis://few:pw@" + server.address()));
  EXPECT_EQ(s.ask({}, {"SET", "k", "v"}).text(), "OK");
  const request denied = of({"GET", "other"});
  EXPECT_TRUE(s.exchange(std::span(&denied, 1))[0].value()[0].is_error("NOPERM"));
}

TEST(Session, ManyInstancesAreChosenByPartition) {
  const redis_server a, b, c;
  server_connections s(parse_redis_url("redis://" + a.address() + "," + b.address() + "," + c.address()));
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < 9; ++p)
    requests.push_back({{"", p}, encode({"RPUSH", "l", std::to_string(p)}), 1, false});
  for (const auto& answered : s.exchange(requests)) EXPECT_TRUE(answered);
  EXPECT_EQ(a.run({"LRANGE", "l", "0", "-1"}), "0\n3\n6");
  EXPECT_EQ(b.run({"LRANGE", "l", "0", "-1"}), "1\n4\n7");
  EXPECT_EQ(c.run({"LRANGE", "l", "0", "-1"}), "2\n5\n8");
  EXPECT_EQ(s.server_of({"", 4}).port, b.port());
  const auto all = s.exchange_with_all(encode({"LLEN", "l"}));
  ASSERT_EQ(all.size(), 3U);
  for (const auto& answered : all) EXPECT_EQ(answered.value()[0].integer(), 3);
}

TEST(Session, ManyUnixSockets) {
  const redis_server a, b;
  server_connections s(parse_redis_url(a.unix_url() + "," + b.unix_path()));
  EXPECT_EQ(s.exchange_with_all(encode({"SET", "k", "v"})).size(), 2U);
  EXPECT_EQ(b.run({"GET", "k"}), "v");
}

TEST(Session, AllInstancesAreAskedInParallel) {
  const redis_server a, b, c;
  server_connections s(parse_redis_url("redis://" + a.address() + "," + b.address() + "," + c.address()));
  const auto begin = std::chrono::steady_clock::now();
  (void)s.exchange_with_all(encode({"DEBUG", "SLEEP", "2"}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(5'900));
}

TEST(Session, HundredMegabytesBothWaysDoNotBlockEachOther) {
  const redis_server server;
  for (const std::string& url : {server.url(), server.unix_url()}) {
    server_connections s(parse_redis_url(url));
    const std::string piece(1 << 20, 'x');
    const std::string echo = encode({"ECHO", piece});
    std::vector<request> requests;
    for (int i = 0; i < 20; ++i) requests.push_back({{}, echo + echo + echo + echo + echo, 5, true});
    for (const auto& answered : s.exchange(requests)) {
      ASSERT_TRUE(answered) << answered.error().message;
      EXPECT_EQ((*answered)[4].text().size(), piece.size());
    }
  }
}

TEST(Session, HundredThousandSmallRequests) {
  const redis_server server;
  server_connections s(parse_redis_url(server.url()));
  const std::vector<request> requests(100'000, of({"INCR", "n"}));
  const auto answers = s.exchange(requests);
  EXPECT_EQ(answers.back().value()[0].integer(), 100'000);
}

TEST(SessionPool, ThreadsEachHaveASession) {
  const redis_server server;
  connection_pool pool(parse_redis_url(server.url()));
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto s = pool.take();
        const std::vector<request> requests(10, of({"INCR", "n"}));
        for (const auto& answered : s->exchange(requests)) failures += answered ? 0 : 1;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(server.run({"GET", "n"}), "4000");
}

TEST(SessionPool, ReusesSessions) {
  const redis_server server;
  connection_pool pool(parse_redis_url(server.url()));
  const server_connections* const first = &*pool.take();
  EXPECT_EQ(&*pool.take(), first);
  EXPECT_EQ(pool.url().endpoints.front().port, server.port());
}

}  // namespace
}  // namespace everseen::redis
