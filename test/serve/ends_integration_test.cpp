// Expiry, renaming and memory use of filters, as clients of a server see them across restarts.

#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

// Promise: a filter ends at its time, though nothing was running then (files, Durability).
TEST(Serve, EndsAFilterInFilesThoughItWasDownAtThatTime) {
  const scratch_directory files;
  serving server("file:" + files.path().string());
  EXPECT_EQ(server.cli({"BF.ADD", "soon", "x"}), "1");
  EXPECT_EQ(server.cli({"BF.ADD", "later", "x"}), "1");
  EXPECT_EQ(server.cli({"PEXPIRE", "soon", "700"}), "1");
  EXPECT_EQ(server.cli({"EXPIRE", "later", "10000"}), "1");
  server.kill();
  std::this_thread::sleep_for(800ms);
  server.start();
  EXPECT_EQ(server.cli({"EXISTS", "soon"}), "0");
  EXPECT_EQ(server.cli({"KEYS", "*"}), "later");
  EXPECT_THAT(server.cli({"TTL", "later"}), StartsWith("99"));
  EXPECT_EQ(server.cli({"BF.ADD", "soon", "x"}), "1") << "a new filter";
  EXPECT_EQ(server.cli({"TTL", "soon"}), "-1");
}

TEST(Serve, RemovesTheFilesOfAnEndedFilter) {
  const scratch_directory files;
  serving server("file:" + files.path().string());
  EXPECT_EQ(server.cli({"BF.ADD", "a", "x"}), "1");
  EXPECT_EQ(server.cli({"PEXPIRE", "a", "200"}), "1");
  wait_until([&] { return !std::filesystem::exists(files.path() / "a"); }, "its files are removed");
}

TEST(Serve, FindsARenamedFilterAfterARestart) {
  const scratch_directory files;
  serving server("file:" + files.path().string());
  EXPECT_EQ(server.cli({"BF.ADD", "a", "x"}), "1");
  EXPECT_EQ(server.cli({"RENAME", "a", "b"}), "OK");
  EXPECT_EQ(server.cli({"BF.ADD", "b", "y"}), "1");
  server.kill();
  server.start();
  EXPECT_EQ(server.cli({"KEYS", "*"}), "b");
  EXPECT_EQ(server.cli({"BF.MEXISTS", "b", "x", "y"}), "1\n1");
}

TEST(Serve, NotifiesAnotherServerOnTheSameRedisOfARename) {
  redis_server redis;
  const serving one(redis.url()), other(redis.url());
  EXPECT_EQ(one.cli({"BF.ADD", "a", "x"}), "1");
  EXPECT_EQ(other.cli({"BF.EXISTS", "a", "x"}), "1") << "it has it open";
  EXPECT_EQ(one.cli({"RENAME", "a", "b"}), "OK");
  wait_until(
      [&] {
        return other.cli({"BF.EXISTS", "a", "x"}) == "0";
      },
      "the other server looks at its names");
  EXPECT_EQ(other.cli({"BF.ADD", "a", "y"}), "1") << "to a new filter";
  EXPECT_EQ(other.cli({"BF.MEXISTS", "b", "x", "y"}), "1\n0");
}

TEST(Serve, AnswersFromTheFilterThatAnotherServerMadeUnderAnOldName) {
  redis_server redis;
  const serving one(redis.url()), other(redis.url());
  using words = std::vector<std::string>;
  const std::vector<std::pair<words, std::string>> asked = {{{"TTL", "a"}, "-1"},
                                                            {{"EXPIRE", "a", "1000"}, "1"},
                                                            {{"PERSIST", "a"}, "0"},
                                                            {{"BF.INFO", "a", "Capacity"}, "7000"},
                                                            {{"BF.CARD", "a"}, "0"}};
  for (const auto& [request, answer] : asked) {
    EXPECT_EQ(one.cli({"BF.ADD", "a", "x"}), "1");
    EXPECT_EQ(other.cli({"BF.EXISTS", "a", "x"}), "1") << "it has it open";
    EXPECT_EQ(one.cli({"RENAME", "a", "b"}), "OK");
    EXPECT_EQ(one.cli({"BF.RESERVE", "a", "0.01", "7000"}), "OK");
    wait_until(
        [&] {
          return other.cli({"BF.INFO", "a", "Capacity"}) == "7000";
        },
        "the other server looks at its names");
    EXPECT_EQ(other.cli(request), answer) << request[0];
    EXPECT_EQ(one.cli({"DEL", "a"}), "1");
    EXPECT_EQ(other.cli({"TTL", "a"}), "-2") << request[0];
  }
}

// Promise: after a rename elsewhere, commands about a name and commands about its keys mean the same filter
// within a second; those that set or return an expiry time, immediately (operations, Bloom commands).
TEST(Serve, AddsKeysToTheFilterWhoseExpiryItHasSet) {
  redis_server redis;
  const serving one(redis.url()), other(redis.url());
  const std::vector<std::vector<std::string>> requests = {
      {"EXPIRE", "a", "1000"}, {"TTL", "a"}, {"PERSIST", "a"}};
  for (const std::vector<std::string>& request : requests) {
    EXPECT_EQ(one.cli({"BF.ADD", "a", "x"}), "1");
    EXPECT_EQ(other.cli({"BF.EXISTS", "a", "x"}), "1") << "it has it open";
    EXPECT_EQ(one.cli({"RENAME", "a", "b"}), "OK");
    EXPECT_EQ(one.cli({"BF.RESERVE", "a", "0.01", "7000"}), "OK");
    EXPECT_EQ(other.cli(request), request[0] == "EXPIRE" ? "1" : request[0] == "TTL" ? "-1" : "0");
    EXPECT_EQ(other.cli({"BF.EXISTS", "a", "x"}), "0") << request[0] << ": x is in b";
    EXPECT_EQ(one.cli({"DEL", "a", "b"}), "2");
    EXPECT_EQ(other.cli({"TTL", "a"}), "-2");
  }
}

TEST(Serve, ReservesNoMemoryForFiltersThatAreOnlyLookedAt) {
  const scratch_directory files;
  const std::string store = "file:" + files.path().string();
  {
    serving server(store);
    for (const char* name : {"a", "b", "c", "d"})
      ASSERT_EQ(server.cli({"BF.RESERVE", name, "0.01", "900000"}), "OK");
    for (const char* name : {"a", "b", "c", "d"}) ASSERT_EQ(server.cli({"BF.ADD", name, "x"}), "1");
  }
  const serving small(store, {"--maxmemory", "2Mi"});
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(small.cli({"BF.EXISTS", name, "x"}), "1");
    EXPECT_EQ(small.cli({"BF.CARD", name}), "1");
  }
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(small.cli({"BF.ADD", "a", "y"}), "1");
  EXPECT_EQ(small.cli({"BF.ADD", "b", "y"}), "1");
  std::this_thread::sleep_for(500ms);
  EXPECT_THAT(small.cli({"BF.RESERVE", "e", "0.01", "1000"}), StartsWith("OOM"))
      << "two filters that are written to exceed it";
  EXPECT_EQ(small.cli({"BF.ADD", "a", "z"}), "1") << "and need no more for this";
}

}  // namespace
}  // namespace everseen::test
