// Outages of the server or the network.

#include <chrono>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/transport/server_connections.hpp"

#include "test/redis/transport/talking.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/loopback.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::cutting_proxy;
using test::redis_server;
using ::testing::HasSubstr;
using direction = cutting_proxy::direction;
using clock = std::chrono::steady_clock;

TEST(Outage, RefusedConnectionIsRetriedForAsLongAsTheUrlSays) {
  server_connections s(
      parse_redis_url("redis://127.0.0.1:" + std::to_string(test::free_port()) + "?retry_for=300ms"));
  const auto begin = clock::now();
  const outage o = outage_of(s, of({"PING"}));
  EXPECT_THAT(o.message, HasSubstr("refused"));
  EXPECT_FALSE(o.may_have_run);
  EXPECT_GE(clock::now() - begin, 300ms);
  EXPECT_LT(clock::now() - begin, 9s) << "the default is 10 s";
}

TEST(Outage, MissingUnixSocketIsReported) {
  server_connections s(parse_redis_url("unix:/nowhere/redis.sock?retry_for=0s"));
  EXPECT_THAT(outage_of(s, of({"PING"})).message, HasSubstr("unix:/nowhere/redis.sock"));
}

/// A listener that ends each connection immediately.
class hanging_up {
 public:
  /// @param path  of a Unix socket
  explicit hanging_up(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(fd_.get(), 8) != 0)
      throw std::runtime_error("no socket at " + path);
    thread_ = std::jthread([this] {
      for (int client; (client = ::accept(fd_.get(), nullptr, nullptr)) >= 0;) ::close(client);
    });
  }
  ~hanging_up() { ::shutdown(fd_.get(), SHUT_RDWR); }
  hanging_up(const hanging_up&) = delete;
  hanging_up& operator=(const hanging_up&) = delete;

 private:
  test::descriptor fd_;
  std::jthread thread_{};
};

TEST(Outage, OnlyAPortIsSuspectedOfWantingTls) {
  const test::scratch_directory directory;
  const std::string path = (directory.path() / "s").string();
  const hanging_up there(path);
  server_connections to_socket(parse_redis_url("unix:" + path + "?retry_for=0s"));
  EXPECT_THAT(outage_of(to_socket, of({"PING"})).message,
              ::testing::AllOf(HasSubstr("the connection ended"), ::testing::Not(HasSubstr("TLS"))));
  redis_server server;
  cutting_proxy proxy(server.port());
  proxy.cut_every(direction::to_server, 1);
  server_connections s(parse_redis_url(proxy.url("?retry_for=0s")));
  EXPECT_THAT(outage_of(s, of({"PING"})).message, HasSubstr("does this port want TLS?"));
}

TEST(Outage, UnknownHostNameIsReported) {
  server_connections s(parse_redis_url("redis://no-such-host.invalid?retry_for=0s&connect_timeout=20s"));
  EXPECT_THAT(outage_of(s, of({"PING"})).message, HasSubstr("cannot find the host"));
}

TEST(Outage, AskThrowsIt) {
  server_connections s(parse_redis_url("unix:/nowhere/redis.sock?retry_for=0s"));
  EXPECT_THROW(s.ask({}, {"PING"}), backend_error);
}

TEST(Outage, PausedServerIsAnOutageThatMayHaveRun) {
  redis_server server;
  server_connections s(parse_redis_url(server.url("?timeout=2s&retry_for=0s")));
  s.ask({}, {"PING"});
  server.pause();
  const outage o = outage_of(s, of({"INCR", "n"}));
  server.resume();
  EXPECT_THAT(o.message, HasSubstr("no answer for 2000 ms"));
  EXPECT_TRUE(o.may_have_run);
}

TEST(Outage, ServerPausedBeforeTheConnectionCannotHaveRunAnything) {
  redis_server server;
  server.pause();
  server_connections s(parse_redis_url(server.url("?connect_timeout=200ms&retry_for=0s")));
  const outage o = outage_of(s, of({"INCR", "n"}));
  server.resume();
  EXPECT_THAT(o.message, HasSubstr("connect_timeout"));
  EXPECT_FALSE(o.may_have_run);
}

TEST(Outage, LongReplyIsNotAnOutageWhileBytesArrive) {
  redis_server server;
  server.run({"SET", "k", std::string(1 << 20, 'x')});
  cutting_proxy proxy(server.port());
  server_connections s(parse_redis_url(proxy.url("?timeout=2s&retry_for=0s")));
  s.ask({}, {"PING"});
  proxy.delay(150ms);  // each piece of at most 64 KiB: over 2.4 s in all
  EXPECT_EQ(s.ask({}, {"GET", "k"}).text().size(), std::size_t{1} << 20);
}

TEST(Outage, ReconnectsAfterARestart) {
  redis_server server;
  server_connections s(parse_redis_url(server.url()));
  s.ask({}, {"PING"});
  server.restart();
  EXPECT_EQ(s.ask({}, {"INCR", "n"}).integer(), 1) << "a connection known to be closed is not an outage";
}

TEST(Outage, RepeatableRequestsAreAnsweredByARestartedServer) {
  redis_server server;
  server_connections s(parse_redis_url(server.url()));
  s.ask({}, {"PING"});
  server.kill();
  std::jthread later([&] {
    std::this_thread::sleep_for(300ms);
    server.start();
  });
  const std::vector<request> requests(100, repeatable({"SETBIT", "k", "7", "1"}));
  for (const auto& a : s.exchange(requests)) EXPECT_TRUE(a) << a.error().message;
  later.join();
}

TEST(Outage, LoadingServerIsWaitedFor) {
  redis_server::options o;
  o.config = {"--appendonly", "yes", "--key-load-delay", "500", "--loading-process-events-interval-bytes",
              "1024"};
  redis_server server(o);
  for (int i = 0; i < 1000; ++i) server.run({"SET", "k" + std::to_string(i), "v"});
  server.run({"BGREWRITEAOF"});
  test::wait_until(
      [&] {
        return server.run({"INFO", "persistence"}).find("aof_rewrite_in_progress:0") != std::string::npos;
      },
      "the file is rewritten");
  server.kill();
  std::jthread starting([&] { server.start(); });
  server_connections s(parse_redis_url(server.url()));
  EXPECT_EQ(s.ask({}, {"GET", "k999"}).text(), "v");
  starting.join();
}

TEST(Outage, ReplicaThatBecomesMasterIsWaitedFor) {
  redis_server master;
  redis_server::options o;
  o.config = {"--replicaof", "127.0.0.1", std::to_string(master.port())};
  redis_server replica(o);
  server_connections s(parse_redis_url(replica.url()));
  std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    replica.run({"REPLICAOF", "NO", "ONE"});
  });
  EXPECT_EQ(s.ask({}, {"SET", "k", "v"}).text(), "OK");
  later.join();
  EXPECT_EQ(replica.run({"GET", "k"}), "v");
}

TEST(Outage, PermanentReplicaIsReported) {
  redis_server master;
  redis_server::options o;
  o.config = {"--replicaof", "127.0.0.1", std::to_string(master.port())};
  redis_server replica(o);
  server_connections s(parse_redis_url(replica.url("?retry_for=100ms")));
  const outage told = outage_of(s, of({"SET", "k", "v"}));
  EXPECT_THAT(told.message, HasSubstr("READONLY"));
  EXPECT_FALSE(told.may_have_run);
}

/// Waits until the server has answered with an error of this first word.
void wait_for_error(const redis_server& server, const std::string& word) {
  test::wait_until(
      [&] {
        return server.run({"INFO", "errorstats"}).find("errorstat_" + word + ":") != std::string::npos;
      },
      "the server answers with " + word);
}

// Promise: a server that refuses writes is waited for (redis, Outages).
TEST(Outage, MasterThatLacksReplicasIsWaitedFor) {
  const redis_server server({"--min-replicas-to-write", "1"});
  server_connections s(parse_redis_url(server.url("?retry_for=5m")));
  EXPECT_EQ(s.ask({}, {"EXISTS", "n"}).integer(), 0) << "look-ups need no replica";
  const request twice{{}, encode({"INCR", "n"}) + encode({"INCR", "n"}), 2, false};
  auto counted = std::async(std::launch::async, [&] { return exchange_one(s, twice); });
  wait_for_error(server, "NOREPLICAS");
  server.run({"CONFIG", "SET", "min-replicas-to-write", "0"});
  const answer a = counted.get();
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(a.value()[0].integer() + a.value()[1].integer(), 1 + 2) << "each ran once";
}

TEST(Outage, MasterThatLacksReplicasFailsAScriptBeforeItsFirstWrite) {
  const redis_server server({"--min-replicas-to-write", "1"});
  server_connections s(parse_redis_url(server.url("?retry_for=5m")));
  auto counted = std::async(std::launch::async, [&] {
    return s.ask({}, {"EVAL", "redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[1])", "1", "n"})
        .integer();
  });
  wait_for_error(server, "NOREPLICAS");
  server.run({"CONFIG", "SET", "min-replicas-to-write", "0"});
  EXPECT_EQ(counted.get(), 2);
}

/// A server that could not save its data, and so takes no writes.
class unable_to_save {
 public:
  unable_to_save() {
    std::filesystem::create_directory(server.directory() / "dump.rdb");
    server.run({"CONFIG", "SET", "save", "3600 1"});
    server.run({"BGSAVE"});
    test::wait_until(
        [&] {
          return server.run({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") != std::string::npos;
        },
        "the data is not saved");
  }
  redis_server server{};
};

// Promise: a server that refuses writes answers look-ups (redis, Outages).
TEST(Outage, ServerThatCannotSaveItsDataAnswersLookUpsOfANewConnection) {
  const unable_to_save all;
  server_connections s(parse_redis_url(all.server.url("?retry_for=0s")));
  const answer a = exchange_one(s, of({"EXISTS", "n"}));
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(a.value()[0].integer(), 0);
}

// Promise: a server that refuses writes is waited for (redis, Outages).
TEST(Outage, ServerThatCannotSaveItsDataIsWaitedFor) {
  const unable_to_save all;
  server_connections s(parse_redis_url(all.server.url("?retry_for=5m")));
  s.ask({}, {"EXISTS", "n"});
  all.server.run({"CONFIG", "RESETSTAT"});
  auto counted = std::async(std::launch::async, [&] { return s.ask({}, {"INCR", "n"}).integer(); });
  wait_for_error(all.server, "MISCONF");
  all.server.run({"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"});
  EXPECT_EQ(counted.get(), 1);
}

TEST(Outage, ServerThatRefusesAnArgumentForItsLengthIsReportedImmediately) {
  redis_server::options o;
  o.config = {"--proto-max-bulk-len", "1mb"};
  redis_server server(o);
  server_connections s(parse_redis_url(server.url()));
  EXPECT_THAT(outage_of(s, repeatable({"SET", "k", std::string(64 << 20, 'x')})).message,
              HasSubstr("invalid bulk length"));
  EXPECT_EQ(s.ask({}, {"EXISTS", "k"}).integer(), 0);
}

TEST(Outage, OneOfManyDoesNotStopTheOthers) {
  redis_server a, b, c;
  server_connections s(
      parse_redis_url("redis://" + a.address() + "," + b.address() + "," + c.address() + "?retry_for=200ms"));
  (void)s.exchange_with_all(encode({"PING"}));
  b.kill();
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < 30; ++p) requests.push_back({{"", p}, encode({"INCR", "n"}), 1, false});
  const auto answers = s.exchange(requests);
  for (std::size_t p = 0; p < 30; ++p) EXPECT_EQ(answers[p].has_value(), p % 3 != 1) << p;
  EXPECT_EQ(a.run({"GET", "n"}), "10");
  EXPECT_EQ(c.run({"GET", "n"}), "10");
}

TEST(Outage, TooManyClientsAreWaitedFor) {
  redis_server::options o;
  o.config = {"--maxclients", "1"};
  redis_server server(o);
  auto first = std::make_unique<server_connections>(parse_redis_url(server.url()));
  first->ask({}, {"PING"});
  server_connections second(parse_redis_url(server.url("?retry_for=3s")));
  EXPECT_THAT(outage_of(second, of({"PING"})).message, HasSubstr("max number of clients"));
  first.reset();
  EXPECT_EQ(second.ask({}, {"PING"}).text(), "PONG");
}

/// The outcome of INCR n over a connection that is cut after the given number of bytes.
struct cut_result {
  bool answered, may_have_run;
  std::int64_t counted;
};
cut_result cut_at(redis_server& server, direction w, std::size_t bytes, bool may_repeat) {
  cutting_proxy proxy(server.port());
  server.run({"SET", "n", "0"});
  server_connections s(parse_redis_url(proxy.url("?retry_for=2s&timeout=2s")));
  s.ask({}, {"PING"});
  proxy.cut_after(w, bytes);
  request r = of({"INCR", "n"});
  r.repeatable = may_repeat;
  const answer a = exchange_one(s, r);
  EXPECT_TRUE(proxy.has_cut());
  EXPECT_TRUE(exchange_one(s, repeatable({"PING"}))) << "the connections are usable again";
  return {a.has_value(), !a && a.error().may_have_run, std::stoll(server.run({"GET", "n"}))};
}

TEST(Cut, AtEveryByteOfARequestNeverRunsItTwice) {
  redis_server server;
  const std::size_t whole = encode({"INCR", "n"}).size();
  for (std::size_t bytes = 0; bytes <= whole; ++bytes) {
    const cut_result r = cut_at(server, direction::to_server, bytes, false);
    EXPECT_FALSE(r.answered) << bytes;
    EXPECT_TRUE(r.may_have_run) << bytes;
    EXPECT_LE(r.counted, bytes == whole ? 1 : 0) << bytes;
  }
}

TEST(Cut, AtEveryByteOfAReplyReportsThatItMayHaveRun) {
  redis_server server;
  const std::size_t whole = std::string(":1\r\n").size();
  for (std::size_t bytes = 0; bytes < whole; ++bytes) {
    const cut_result r = cut_at(server, direction::to_client, bytes, false);
    EXPECT_FALSE(r.answered) << bytes;
    EXPECT_TRUE(r.may_have_run) << bytes;
    EXPECT_EQ(r.counted, 1) << bytes;
  }
  EXPECT_TRUE(cut_at(server, direction::to_client, whole, false).answered);
}

TEST(Cut, AtEveryByteARepeatableRequestIsAnswered) {
  redis_server server;
  for (std::size_t bytes = 0; bytes <= encode({"INCR", "n"}).size(); ++bytes) {
    const cut_result r = cut_at(server, direction::to_server, bytes, true);
    EXPECT_TRUE(r.answered) << bytes;
    EXPECT_GE(r.counted, 1) << bytes;
    EXPECT_LE(r.counted, 2) << bytes;
  }
}

TEST(Cut, InAPipelineLosesOnlyTouchedRequests) {
  redis_server server;
  cutting_proxy proxy(server.port());
  server_connections s(parse_redis_url(proxy.url()));
  s.ask({}, {"PING"});
  std::vector<request> requests;
  for (int i = 0; i < 50; ++i)
    requests.push_back({{}, encode({"RPUSH", "l", std::to_string(i) + std::string(100'000, ' ')}), 1, false});
  proxy.cut_after(direction::to_server, 1'000'000);
  const auto answers = s.exchange(requests);
  std::size_t answered = 0, lost = 0;
  for (const auto& a : answers) {
    answered += a.has_value();
    lost += !a && a.error().may_have_run;
  }
  EXPECT_EQ(answered + lost, 50U) << "untouched requests were sent over the next connection";
  EXPECT_GT(lost, 0U);
  const auto stored = static_cast<std::size_t>(std::stoi(server.run({"LLEN", "l"})));
  EXPECT_GE(stored, answered);
  EXPECT_LE(stored, 50U);
  for (std::size_t i = 0; i < 50; ++i)
    EXPECT_LE(std::stoi(server.run({"EVAL",
                                    "local n = 0 for _, v in ipairs(redis.call('LRANGE', 'l', 0, -1)) do "
                                    "if v:match('^%d+') == ARGV[1] then n = n + 1 end end return n",
                                    "0", std::to_string(i)})),
              1);
}

TEST(Cut, NetworkThatRefusesForAWhileIsRetried) {
  redis_server server;
  cutting_proxy proxy(server.port());
  server_connections s(parse_redis_url(proxy.url()));
  s.ask({}, {"PING"});
  proxy.refuse(true);
  std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    proxy.refuse(false);
  });
  EXPECT_TRUE(exchange_one(s, repeatable({"PING"})));
  later.join();
  EXPECT_LT(proxy.connections(), 20U) << "the pauses grow";
}

}  // namespace
}  // namespace everseen::redis
