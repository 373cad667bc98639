#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/port/time_source.hpp"

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/sanitizer.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string key(std::size_t i) {
  return "key-" + std::to_string(i);
}

/// BF.MADD of consecutive keys from one number on.
std::string madd(const std::string& filter, std::size_t from, std::size_t count) {
  std::vector<std::string> words = {"BF.MADD", filter};
  for (std::size_t i = from; i < from + count; ++i) words.push_back(key(i));
  return encoded(words);
}

std::string array_of(std::size_t count, const std::string& reply) {
  std::string all = "*" + std::to_string(count) + "\r\n";
  for (std::size_t i = 0; i < count; ++i) all += reply;
  return all;
}

TEST(Serve, AnswersRequestsThatArriveByteByByte) {
  serving server;
  raw_client client(server.path());
  for (const char c : encoded({"BF.ADD", "f", "x"})) client.send({&c, 1});
  EXPECT_EQ(client.receive(4), ":1\r\n");
}

TEST(Serve, AnswersAClientThatSendsNoMoreButStillReads) {
  serving server;
  raw_client client(server.path());
  client.send(encoded({"BF.ADD", "f", "x"}) + encoded({"BF.ADD", "f", "x"}));
  client.send_no_more();
  EXPECT_EQ(client.receive_all(), ":1\r\n:0\r\n");
}

TEST(Serve, AnswersAWholePipelineOfAClientThatReadsNothingBeforeItsEnd) {
  serving server;
  raw_client client(server.path());
  constexpr std::size_t requests = 20'000, keys = 50;  // 4 MB of replies: more than socket buffers hold
  client.send(encoded({"BF.RESERVE", "f", "0.000000000001", "1000000"}));
  for (std::size_t i = 0; i < requests; ++i) client.send(madd("f", i * keys, keys));
  EXPECT_EQ(client.receive(5), "+OK\r\n");
  const std::string fresh = array_of(keys, ":1\r\n");
  for (std::size_t i = 0; i < requests; ++i) ASSERT_EQ(client.receive(fresh.size()), fresh) << i;
}

TEST(Serve, AcceptsARequestOfManyMegabytes) {
  serving server;
  raw_client client(server.path());
  constexpr std::size_t keys = 500'000;
  const std::string reply = array_of(keys, ":1\r\n");
  client.send(encoded({"BF.RESERVE", "f", "0.000000000001", "1000000"}));
  EXPECT_EQ(client.receive(5), "+OK\r\n");
  EXPECT_EQ(client.ask(madd("f", 0, keys), reply.size()), reply);
}

/// A store of files with a filter of Guava whose keys are numbers.
std::string store_of_numbers(const scratch_directory& home) {
  std::string store = "file:" + (home.path() / "store").string();
  const program_result made =
      run_program({test::everseen_program(), "create", "ids", "--as", "guava64", "--capacity", "100k",
                   "--error-rate", "1e-12", "--funnel", "long", "--store", store});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return store;
}

const std::string refused_word = "-ERR the key 'oops' is not a whole number of 64 bits\r\n";

// Promise: a key that a filter cannot take is an error of its own, and affects no other client (operations,
// Bloom commands).
TEST(Serve, RefusesAKeyThatAFilterCannotAcceptAndJudgesTheOthersOfItsPipeline) {
  const scratch_directory home;
  const serving server(store_of_numbers(home));
  const std::string expected = "*3\r\n:1\r\n" + refused_word + ":1\r\n:1\r\n" + refused_word + ":0\r\n";
  EXPECT_EQ(raw_client(server.path())
                .ask(encoded({"BF.MADD", "ids", "1", "oops", "2"}) + encoded({"BF.ADD", "ids", "3"}) +
                         encoded({"BF.ADD", "ids", "oops"}) + encoded({"BF.ADD", "ids", "1"}),
                     expected.size()),
            expected);
}

// Promise: a key that a filter cannot take is an error of its own, and affects no other client (operations,
// Bloom commands).
TEST(Serve, RefusedKeyOfOneClientDoesNotAffectOthers) {
  const scratch_directory home;
  const serving server(store_of_numbers(home));
  constexpr std::size_t clients = 4, requests = 500;
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c < clients; ++c)
    threads.emplace_back([&, c] {
      raw_client client(server.path());
      for (std::size_t i = 0; i < requests; ++i) {
        const bool word = c == 0;
        const std::string expected = word ? refused_word : ":1\r\n";
        const std::string asked = word ? "oops" : std::to_string(c * requests + i);
        ASSERT_EQ(client.ask(encoded({"BF.ADD", "ids", asked}), expected.size()), expected);
      }
    });
  for (std::thread& each : threads) each.join();
}

// Promise: of many connections that add a key exactly one gets 1 (operations, Bloom commands).
TEST(Serve, ReportsAKeyAsFreshToExactlyOneOfManyClients) {
  serving server;
  raw_client(server.path()).ask(encoded({"BF.RESERVE", "f", "0.000000000001", "200000"}), 5);
  constexpr std::size_t keys = 1000, clients = 8;
  std::vector<std::string> replies(clients);
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c < clients; ++c)
    threads.emplace_back([&, c] {
      raw_client client(server.path());
      std::string pipeline;
      for (std::size_t i = 0; i < keys; ++i) pipeline += encoded({"BF.ADD", "f", key(i)});
      replies[c] = client.ask(pipeline, keys * 4);
    });
  for (std::thread& each : threads) each.join();
  for (std::size_t i = 0; i < keys; ++i) {
    std::size_t fresh = 0;
    for (const std::string& each : replies) fresh += each.at(i * 4 + 1) == '1' ? 1 : 0;
    ASSERT_EQ(fresh, 1U) << key(i);
  }
}

TEST(Serve, ServesThousandsOfConcurrentConnections) {
  serving server;
  std::vector<std::unique_ptr<raw_client>> clients;
  for (std::size_t i = 0; i < 2000; ++i) clients.push_back(std::make_unique<raw_client>(server.path()));
  for (std::size_t i = 0; i < clients.size(); ++i)
    clients[i]->send(encoded({"BF.ADD", "one filter", key(i)}));
  for (const auto& each : clients) ASSERT_THAT(each->receive(4), StartsWith(":"));
  EXPECT_THAT(server.cli({"INFO"}), HasSubstr("connected_clients:2001"));
}

TEST(Serve, RefusesConnectionsOverItsLimit) {
  serving server("mem:", {"--max-connections", "2"});
  raw_client first(server.path()), second(server.path());
  EXPECT_EQ(first.ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(second.ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(raw_client(server.path()).receive_all(), "-ERR max number of clients reached\r\n");
}

TEST(Serve, DisconnectsAClientThatSendsGarbageAndNobodyElse) {
  serving server;
  raw_client good(server.path());
  for (const std::string& garbage :
       {std::string("*3\r\n$-5\r\n"), std::string("*99999999999\r\n"),
        "*1\r\n$3\r\nabcdef" + std::string(1000, '\0'), std::string(100'000, 'x')}) {
    raw_client bad(server.path());
    bad.send_what_fits(garbage, std::chrono::seconds(1));
    EXPECT_THAT(bad.receive_all(), StartsWith("-ERR Protocol error"));
  }
  EXPECT_EQ(good.ask(encoded({"BF.ADD", "f", "x"}), 4), ":1\r\n");
}

TEST(Serve, DisconnectsAClientThatDoesNotFinishARequestInTime) {
  serving server("mem:", {"--request-timeout", "1s"});
  raw_client good(server.path());
  raw_client slow(server.path());
  slow.send("*3\r\n$6\r\nBF.A");
  EXPECT_EQ(slow.receive_all(), "");
  EXPECT_EQ(good.ask("PING\r\n", 7), "+PONG\r\n");
}

TEST(Serve, DisconnectsAClientThatDoesNotReadItsReplies) {
  serving server("mem:", {"--max-output", "100k", "--write-timeout", "1s"});
  raw_client greedy(server.path());
  std::string pipeline;
  const std::string big(50'000, 'x');
  for (int i = 0; i < 1000; ++i) pipeline += encoded({"ECHO", big});  // 50 MB of replies
  EXPECT_LT(greedy.send_what_fits(pipeline, std::chrono::seconds(3)), pipeline.size());
  EXPECT_EQ(raw_client(server.path()).ask("PING\r\n", 7), "+PONG\r\n");
}

TEST(Serve, DisconnectsAnIdleClient) {
  serving server("mem:", {"--idle-timeout", "3s"});
  raw_client idle(server.path());
  EXPECT_EQ(idle.ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(idle.receive_all(), "");
}

TEST(Serve, RefusesAFilterWithoutRoomBeforeCreatingIt) {
  serving server("mem:", {"--maxmemory", "10Mi"});
  EXPECT_THAT(server.cli({"BF.RESERVE", "big", "0.01", "100000000"}), HasSubstr("OOM command not allowed"));
  EXPECT_EQ(server.cli({"EXISTS", "big"}), "0");
  EXPECT_EQ(server.cli({"BF.RESERVE", "small", "0.01", "1000000"}), "OK");
  EXPECT_EQ(server.cli({"CONFIG", "SET", "maxmemory", "1000"}), "OK");
  // Filters exceed the current limit: they keep their room, and no other gets any.
  EXPECT_EQ(server.cli({"BF.EXISTS", "small", "x"}), "0");
  EXPECT_EQ(server.cli({"BF.ADD", "small", "y"}), "1");
  EXPECT_THAT(server.cli({"BF.ADD", "another", "y"}), StartsWith("OOM"));
}

/// Adds numbers in batches, from several connections at the same time, until the filter refuses one.
std::string add_until_refused(const serving& server, const std::string& filter, int most) {
  std::mutex lock;
  std::string refused;
  std::vector<std::jthread> clients;
  for (int client = 0; client < 2; ++client)
    clients.emplace_back([&, client] {
      raw_client connection(server.path());
      for (int first = client * 1000; first < most; first += 2000) {
        std::vector<std::string> words = {"BF.MADD", filter};
        for (int key = first; key < first + 1000; ++key) words.push_back(std::to_string(key));
        connection.send(encoded(words));
        const reply answer = receive_reply(connection);
        for (const reply& part : answer.parts)
          if (part.text.starts_with("OOM")) {
            const std::scoped_lock alone(lock);
            refused = part.text;
            return;
          }
      }
    });
  clients.clear();
  return refused;
}

std::uint64_t number_behind(const std::string& text, const std::string& name) {
  return std::stoull(text.substr(text.find(name) + name.size()));
}

std::uint64_t used_memory(const serving& server) {
  return number_behind(server.cli({"INFO", "memory"}), "used_memory:");
}

std::uint64_t resident_bytes(const serving& server) {
  const std::uint64_t id = number_behind(server.cli({"INFO", "server"}), "process_id:");
  std::ifstream file("/proc/" + std::to_string(id) + "/status");
  const std::string status((std::istreambuf_iterator<char>(file)), {});
  return number_behind(status, "VmRSS:") << 10;
}

// Promise: a segment that would exceed --maxmemory is not made, and only its filter refuses keys (operations,
// Limits).
TEST(Serve, RefusesALayerThatWouldExceedTheMemoryLimitForItsFilterAlone) {
  const scratch_directory files;
  for (const std::string& store : {std::string("mem:"), "file:" + files.path().string()}) {
    SCOPED_TRACE(store);
    const serving server(store, {"--maxmemory", "8Mi", "--redisbloom"});
    EXPECT_EQ(server.cli({"BF.RESERVE", "greedy", "0.01", "100000", "EXPANSION", "1000"}), "OK");
    const std::string refused = add_until_refused(server, "greedy", 110'000);
    EXPECT_THAT(refused,
                StartsWith("OOM command not allowed when used memory > 'maxmemory'. the filter cannot grow"));
    EXPECT_THAT(refused, testing::EndsWith("; to make room, drop a filter, or raise maxmemory"));
    EXPECT_LT(used_memory(server), 8U << 20);
    EXPECT_LT(resident_bytes(server), std::uint64_t{is_sanitized ? 300 : 100} << 20)
        << "the program itself included";
    EXPECT_EQ(server.cli({"BF.EXISTS", "greedy", "17"}), "1");
    EXPECT_EQ(server.cli({"BF.ADD", "greedy", "17"}), "0") << "a key that it has needs no room";
    EXPECT_EQ(server.cli({"BF.RESERVE", "another", "0.01", "1000"}), "OK");
    EXPECT_EQ(server.cli({"BF.ADD", "another", "a"}), "1") << "other filters continue";
    EXPECT_EQ(server.cli({"CONFIG", "SET", "maxmemory", "0"}), "OK");
    EXPECT_EQ(server.cli({"DEL", "greedy"}), "1");
  }
}

TEST(Serve, RefusesGrowthOfItsOwnLayoutsInEachPartitionAndSlice) {
  constexpr std::uint64_t limit = 600U << 10;
  const serving server("mem:", {"--maxmemory", std::to_string(limit), "--threads", "2"});
  EXPECT_EQ(server.cli({"BF.RESERVE", "grows", "0.01", "100000"}), "OK");
  EXPECT_EQ(server.cli({"BF.RESERVE", "small", "0.01", "1000"}), "OK");
  EXPECT_THAT(add_until_refused(server, "grows", 1'000'000), StartsWith("OOM"));
  EXPECT_LE(used_memory(server), limit);
  EXPECT_EQ(server.cli({"BF.ADD", "small", "a"}), "1");
  EXPECT_EQ(server.cli({"DEL", "grows"}), "1");
  EXPECT_EQ(server.cli({"EVERSEEN.RESERVE", "slices", "0.01", "800000", "WINDOW", "8000", "SLICES", "8"}),
            "OK");
  const std::int64_t time = wall_clock().time_since_epoch().count();
  std::string verdicts;
  for (int slice = 0; slice < 8; ++slice) {
    std::vector<std::string> words = {"EVERSEEN.ADD", "slices", "TIME",
                                      std::to_string(time - 7000 + 1000 * slice), "ITEMS"};
    for (int key = 0; key < 200; ++key) words.push_back(std::to_string(1000 * slice + key));
    verdicts += server.cli(words).find("OOM") == std::string::npos ? 'f' : 'u';
  }
  EXPECT_THAT(verdicts, testing::MatchesRegex("f+u+")) << "fresh, then refused";
  EXPECT_LE(used_memory(server), limit);
}

// Promise: an idle connection takes little memory, whatever it asked before (operations, Limits).
TEST(Serve, KeepsNoMemoryOfLargeRepliesForIdleConnections) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
  const serving server;
  raw_client owner(server.path());
  for (int i = 0; i < 500; ++i) ask(owner, "BF.ADD " + std::string(900, 'f') + std::to_string(i) + " x");
  std::vector<std::unique_ptr<raw_client>> idle;
  std::uint64_t before = 0;
  constexpr std::size_t most = 250, to_warm_up = 50;
  for (std::size_t i = 0; i < most; ++i) {
    if (i == to_warm_up) before = resident_bytes(server);
    idle.push_back(std::make_unique<raw_client>(server.path()));
    ASSERT_EQ(ask(*idle.back(), "KEYS *").parts.size(), 500U);
  }
  EXPECT_LT(resident_bytes(server), before + (most - to_warm_up) * (64U << 10)) << "a reply has 450 KB";
  for (const auto& each : idle) EXPECT_EQ(ask(*each, "PING").text, "PONG");
}

TEST(Serve, ReadsMemoryLimitsAsRedisDoes) {
  const serving server("mem:", {"--maxmemory", "10Mi"});
  const auto limit = [&] { return server.cli({"CONFIG", "GET", "maxmemory"}); };
  const std::pair<const char*, const char*> sizes[] = {
      {"100mb", "104857600"}, {"1k", "1000"},        {"1Kb", "1024"},  {"2M", "2000000"}, {"300B", "300"},
      {"1g", "1000000000"},   {"3GB", "3221225472"}, {"4096", "4096"}, {"0", "0"}};
  for (const auto& [word, bytes] : sizes) {
    EXPECT_EQ(server.cli({"CONFIG", "SET", "maxmemory", word}), "OK");
    EXPECT_EQ(limit(), "maxmemory\n" + std::string(bytes)) << word;
  }
  EXPECT_THAT(server.cli({"INFO", "memory"}), HasSubstr("maxmemory:0\r"));
  EXPECT_EQ(server.cli({"BF.RESERVE", "f", "0.01", "100000000"}), "OK") << "0 is no limit";
  for (const char* word : {"1xb", "-1", "", "mb", "1.5gb", "1 kb", "10000000000gb"})
    EXPECT_THAT(server.cli({"CONFIG", "SET", "maxmemory", word}), HasSubstr("cannot be set")) << word;
  const serving unlimited("mem:", {"--maxmemory", "0"});
  EXPECT_EQ(unlimited.cli({"CONFIG", "GET", "maxmemory"}), "maxmemory\n0");
  EXPECT_EQ(unlimited.cli({"BF.ADD", "f", "a"}), "1");
}

TEST(Serve, CountsTheOverheadOfASmallFilter) {
  serving server("mem:", {"--maxmemory", "1Mi"});
  raw_client client(server.path());
  std::size_t made = 0;
  for (std::string reply = ":1\r\n"; reply == ":1\r\n" && made < 10'000; ++made)
    reply = client.ask(encoded({"BF.ADD", key(made), "x"}), 4);
  EXPECT_LT(made, 256U) << "each takes more than 4 KiB";
  EXPECT_GT(made, 100U);
}

// Promise: serve hashes by siphash where others can reach it (hashing, Keys chosen by strangers).
TEST(Serve, HashesByAKeyedHashWhereOthersCanReachIt) {
  const auto hash = [](const std::string& address, const std::vector<std::string>& more) {
    serving server("mem:", {"--listen", address, "--user", "app:word:write"});
    raw_client client(server.path());
    EXPECT_EQ(client.ask("AUTH app word\r\n", 5), "+OK\r\n");
    EXPECT_EQ(client.ask(encoded(more), more[0] == "BF.ADD" ? 4 : 5),
              more[0] == "BF.ADD" ? ":1\r\n" : "+OK\r\n");
    client.send(encoded({"EVERSEEN.INFO", "f"}) + "QUIT\r\n");
    const std::string told = client.receive_all();
    const auto is_told = [&](const char* name) { return told.find(name) != std::string::npos; };
    return std::string(is_told("siphash") ? "siphash" : "") + (is_told("xxh3") ? "xxh3" : "");
  };
  EXPECT_EQ(hash("127.0.0.1:0", {"BF.ADD", "f", "x"}), "xxh3");
  EXPECT_EQ(hash("0.0.0.0:0", {"BF.ADD", "f", "x"}), "siphash");
  EXPECT_EQ(hash("0.0.0.0:0", {"EVERSEEN.RESERVE", "f", "0.01", "100"}), "siphash");
  EXPECT_EQ(hash("0.0.0.0:0", {"EVERSEEN.RESERVE", "f", "0.01", "100", "XXH3"}), "xxh3");
  EXPECT_EQ(hash("127.0.0.1:0", {"EVERSEEN.RESERVE", "f", "0.01", "100", "SIPHASH"}), "siphash");
}

TEST(Serve, RequiresThePasswordBeforeAnythingElse) {
  serving server("mem:", {"--password", "secret", "--user", "app:word:read"});
  raw_client client(server.path());
  const std::string refused = "-NOAUTH Authentication required.\r\n";
  for (const char* request : {"PING\r\n", "BF.ADD f x\r\n", "SHUTDOWN\r\n", "CONFIG GET *\r\n"})
    EXPECT_EQ(client.ask(request, refused.size()), refused);
  const std::string wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
  EXPECT_EQ(client.ask("AUTH guess\r\n", wrong.size()), wrong);
  EXPECT_EQ(client.ask("AUTH app secret\r\n", wrong.size()), wrong);
  EXPECT_EQ(client.ask("AUTH secret\r\n", 5), "+OK\r\n");
  EXPECT_EQ(client.ask("BF.ADD f x\r\n", 4), ":1\r\n");
}

TEST(Serve, ChecksFewPasswordsOfAClientThatGuesses) {
  serving server("mem:", {"--user", "app:word:read"});
  raw_client guesser(server.path());
  constexpr std::size_t guesses = 5'000;
  std::jthread sender([&] {  // the server keeps few replies before log-in
    for (std::size_t i = 0; i < guesses; ++i) guesser.send(encoded({"AUTH", "app", key(i)}));
    guesser.send("HELLO 2 AUTH app word\r\nQUIT\r\n");
  });
  const std::string replies = guesser.receive_all();
  sender.join();
  std::size_t looked_at = 0;
  for (std::size_t position = 0; (position = replies.find("-WRONGPASS", position)) != std::string::npos;
       ++position)
    ++looked_at;
  EXPECT_GE(looked_at, 50U);
  EXPECT_LT(looked_at, 1'000U) << "10 a second more, however slow this machine is";
  EXPECT_THAT(replies, HasSubstr("-ERR too many wrong passwords"));
  const std::string port = server.port();
  EXPECT_EQ(
      run_program({"redis-cli", "-p", port, "--user", "app", "--pass", "word", "--no-auth-warning", "PING"})
          .out,
      "PONG\n")
      << "a client from elsewhere is not delayed";
}

TEST(Serve, LimitsAUserToItsRights) {
  serving server("mem:", {"--password", "secret", "--user", "app:word:read", "--user", "loader:word2:write"});
  raw_client reader(server.path());
  EXPECT_EQ(reader.ask("AUTH app word\r\n", 5), "+OK\r\n");
  const std::string refused = "-NOPERM this user has no permissions to run the 'bf.add' command\r\n";
  EXPECT_EQ(reader.ask("BF.ADD f x\r\n", refused.size()), refused);
  EXPECT_EQ(reader.ask("BF.EXISTS f x\r\n", 4), ":0\r\n");
  raw_client writer(server.path());
  EXPECT_EQ(writer.ask("AUTH loader word2\r\n", 5), "+OK\r\n");
  EXPECT_EQ(writer.ask("BF.ADD f x\r\n", 4), ":1\r\n");
  const std::string not_admin = "-NOPERM this user has no permissions to run the 'flushall' command\r\n";
  EXPECT_EQ(writer.ask("FLUSHALL\r\n", not_admin.size()), not_admin);
  // An open filter does not admit the reader either.
  EXPECT_EQ(reader.ask("BF.ADD f x\r\n", refused.size()), refused);
}

TEST(Serve, AcceptsOnlySmallRequestsBeforeAuthentication) {
  serving server("mem:", {"--password", "secret"});
  raw_client client(server.path());
  client.send("*1000\r\n");
  EXPECT_THAT(client.receive_all(), StartsWith("-ERR Protocol error"));
}

// Promise: before log-in, a client has 64 KiB of unread replies (operations, Limits).
TEST(Serve, KeepsFewRepliesForAClientThatHasNotLoggedIn) {
  serving server("mem:", {"--password", "secret"});
  raw_client stranger(server.path());
  std::string pipeline;
  for (int i = 0; i < 1'000'000; ++i) pipeline += "PING\r\n";  // 34 MB of replies
  const std::size_t accepted = stranger.send_what_fits(pipeline, std::chrono::seconds(3));
  EXPECT_LT(accepted, pipeline.size() / 3) << "more than sockets and buffers hold";
  EXPECT_EQ(raw_client(server.path()).ask("AUTH secret\r\nPING\r\n", 12), "+OK\r\n+PONG\r\n");
}

// Promise: a client that does not log in within --request-timeout is disconnected (operations, Limits).
TEST(Serve, DisconnectsAClientThatDoesNotLogInThoughRepliesWaitForIt) {
  serving server("mem:", {"--password", "secret", "--request-timeout", "1s", "--write-timeout", "10m"});
  raw_client stranger(server.path());
  std::string pipeline;
  for (int i = 0; i < 500'000; ++i) pipeline += "PING\r\n";
  stranger.send_what_fits(pipeline, std::chrono::seconds(1));
  wait_until(
      [&] {
        return server.cli({"--no-auth-warning", "-a", "secret", "INFO", "clients"})
                   .find("connected_clients:1\r") != std::string::npos;
      },
      "the stranger is disconnected");
}

TEST(Serve, DoesNotListenToTheNetworkWithoutAPassword) {
  const auto result =
      run_program({test::everseen_program(), "serve", "--store", "mem:", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("give --password"));
}

TEST(Serve, SpeaksTlsAndRequiresACertificateWhereConfigured) {
  const tls_files files;
  serving server("mem:", {"--listen", "tls:127.0.0.1:0", "--tls-cert", files.path("server.crt"), "--tls-key",
                          files.path("server.key"), "--tls-ca", files.ca()});
  const std::string port = server.port("listening on tls:127.0.0.1:");
  const std::vector<std::string> client = {"redis-cli", "--tls", "-h",       "127.0.0.1",
                                           "-p",        port,    "--cacert", files.ca()};
  auto known = client;
  known.insert(known.end(), {"--cert", files.client_cert(), "--key", files.client_key(), "BF.ADD", "f", "x"});
  EXPECT_EQ(run_program(known).out, "1\n");
  auto unknown = client;
  unknown.emplace_back("PING");
  EXPECT_EQ(run_program(unknown).out, "");
}

TEST(Serve, ListsItsClients) {
  serving server;
  raw_client bob(server.path());
  EXPECT_EQ(bob.ask("CLIENT SETNAME bob\r\n", 5), "+OK\r\n");
  EXPECT_THAT(server.cli({"CLIENT", "LIST"}), HasSubstr("name=bob"));
}

TEST(Serve, AnswersRunningRequestsWhenItIsStopped) {
  serving server;
  raw_client client(server.path());
  EXPECT_EQ(client.ask("PING\r\n", 7), "+PONG\r\n");
  const program_result ended = server.stop();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_FALSE(std::filesystem::exists(server.path()));
}

TEST(Serve, EndsByShutdown) {
  serving server;
  raw_client client(server.path());
  client.send("SHUTDOWN\r\n");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(server.program().wait().exit_code, 0);
}

TEST(Serve, ReusesTheSocketOfAKilledServer) {
  serving server;
  server.kill();
  EXPECT_TRUE(std::filesystem::exists(server.path()));
  server.start();
  EXPECT_EQ(server.cli({"PING"}), "PONG");
}

// Promise: a server that is killed forgets nothing acknowledged (operations, Durability).
TEST(Serve, ForgetsNothingAcknowledgedWhenItIsKilled) {
  const scratch_directory files;
  serving server("file:" + files.path().string());
  raw_client(server.path()).ask(encoded({"BF.RESERVE", "f", "0.000000000001", "1000000"}), 5);
  std::size_t acknowledged = 0;
  for (int round = 0; round < 5; ++round) {
    {
      raw_client client(server.path());
      const std::string fresh = array_of(100, ":1\r\n");
      for (int i = 0; i < 50; ++i, acknowledged += 100)
        ASSERT_EQ(client.ask(madd("f", acknowledged, 100), fresh.size()), fresh);
      client.send(madd("f", acknowledged + 1'000'000, 100));  // in flight, and not acknowledged
    }
    server.kill();
    server.start();
  }
  raw_client client(server.path());
  for (std::size_t i = 0; i < acknowledged; i += 100) {
    const std::string seen = array_of(100, ":0\r\n");
    ASSERT_EQ(client.ask(madd("f", i, 100), seen.size()), seen) << i;
  }
}

TEST(Serve, SharesFiltersInFilesWithTheProgram) {
  const scratch_directory files;
  const std::string store = "file:" + files.path().string();
  ASSERT_EQ(run_program({test::everseen_program(), "create", "clicks", "--store", store, "-q"}).exit_code, 0);
  ASSERT_EQ(
      run_program({test::everseen_program(), "add", "clicks", "alice", "--store", store, "-q"}).exit_code, 0);
  serving server(store);
  EXPECT_EQ(server.cli({"BF.EXISTS", "clicks", "alice"}), "1");
  EXPECT_EQ(server.cli({"BF.ADD", "user:1", "bob"}), "1");
  EXPECT_EQ(server.cli({"DEL", "clicks"}), "1");
  EXPECT_EQ(server.stop().exit_code, 0);
  EXPECT_EQ(run_program({test::everseen_program(), "list", "--names", "--store", store}).out, "user:1\n");
}

TEST(ServeInFrontOfRedis, BringsTheBloomCommandsToAServerWithoutModules) {
  const redis_server redis;
  serving server(redis.url());
  EXPECT_EQ(server.cli({"BF.RESERVE", "f", "0.001", "10000"}), "OK");
  EXPECT_EQ(server.cli({"BF.MADD", "f", "a", "b", "a"}), "1\n1\n0");
  EXPECT_EQ(server.cli({"BF.EXISTS", "f", "b"}), "1");
  EXPECT_EQ(server.cli({"BF.CARD", "f"}), "2");
  EXPECT_EQ(server.cli({"DBSIZE"}), "1");
  EXPECT_EQ(run_program({test::everseen_program(), "check", "f", "a", "--store", redis.url()}).exit_code, 0);
}

TEST(Serve, SyncsAcknowledgedKeysWhereTheStoreIsConfiguredSo) {
  const scratch_directory files;
  serving server("file:" + files.path().string() + "?sync=always");
  raw_client(server.path()).ask(encoded({"BF.RESERVE", "f", "0.000000000001", "100000"}), 5);
  raw_client client(server.path());
  std::string pipeline, fresh;
  for (std::size_t i = 0; i < 500; ++i) {
    pipeline += madd("f", i * 10, 10);
    fresh += array_of(10, ":1\r\n");
  }
  EXPECT_EQ(client.ask(pipeline, fresh.size()), fresh);
  server.kill();
  server.start();
  const std::string seen = array_of(5000, ":0\r\n");
  EXPECT_EQ(raw_client(server.path()).ask(madd("f", 0, 5000), seen.size()), seen);
}

TEST(ServeInFrontOfRedis, SpreadsAFilterOverACluster) {
  const redis_cluster cluster;
  const serving server(cluster.url());
  raw_client client(server.path());
  EXPECT_EQ(client.ask(encoded({"BF.RESERVE", "user:7", "0.000000000001", "100000"}), 5), "+OK\r\n");
  const std::string fresh = array_of(5000, ":1\r\n"), seen = array_of(5000, ":0\r\n");
  EXPECT_EQ(client.ask(madd("user:7", 0, 5000), fresh.size()), fresh);
  EXPECT_EQ(client.ask(madd("user:7", 0, 5000), seen.size()), seen);
  EXPECT_EQ(server.cli({"KEYS", "user:*"}), "user:7");
}

TEST(ServeInFrontOfRedis, MergesTheRequestsOfManyClientsAndReportsFreshToOne) {
  const redis_server redis;
  serving server(redis.url());
  raw_client(server.path()).ask(encoded({"BF.RESERVE", "f", "0.000000000001", "100000"}), 5);
  constexpr std::size_t clients = 64, keys = 100;
  std::vector<std::unique_ptr<raw_client>> all;
  for (std::size_t c = 0; c < clients; ++c) all.push_back(std::make_unique<raw_client>(server.path()));
  for (std::size_t i = 0; i < keys; ++i) {
    for (const auto& each : all) each->send(encoded({"BF.ADD", "f", key(i)}));
    std::size_t fresh = 0;
    for (const auto& each : all) fresh += each->receive(4) == ":1\r\n" ? 1 : 0;
    ASSERT_EQ(fresh, 1U) << key(i);
  }
}

// Promise: unknown is an error that begins with OUTAGE (operations, Bloom commands).
TEST(ServeInFrontOfRedis, ReportsOutageWhileRedisIsUnavailable) {
  redis_server redis;
  serving server(redis.url("?retry_for=100ms"));
  EXPECT_EQ(server.cli({"BF.ADD", "f", "a"}), "1");
  redis.stop();
  EXPECT_THAT(server.cli({"BF.ADD", "f", "b"}), StartsWith("OUTAGE "));
  EXPECT_THAT(server.cli({"BF.MADD", "f", "b", "c"}), HasSubstr("OUTAGE "));
  EXPECT_EQ(server.cli({"PING"}), "PONG");
}

}  // namespace
}  // namespace everseen::test
