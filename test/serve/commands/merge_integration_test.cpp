// BF.MERGE of everseen serve.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string keys(const std::string& command, int from, int end) {
  std::string line = command;
  for (int i = from; i < end; ++i) line += " " + std::to_string(i);
  return line;
}

class ServedMerge : public testing::Test {
 protected:
  void start(const std::string& store, const std::vector<std::string>& options = {}) {
    server_.emplace(store, options);
    client_.emplace(server_->path());
  }
  reply ask(const std::string& line) { return test::ask(*client_, line); }
  int found(const std::string& name, int from, int end) {
    int count = 0;
    for (const reply& each : ask(keys("BF.MEXISTS " + name, from, end)).parts)
      count += each.text == "1" ? 1 : 0;
    return count;
  }

  std::optional<serving> server_{};
  std::optional<raw_client> client_{};
};

// Promise: BF.MERGE adds all keys of filters with the same properties and seed (operations, Bloom commands).
TEST_F(ServedMerge, AddsTheKeysOfAllSources) {
  const scratch_directory scratch;
  for (const std::string& store : {std::string("mem:"), "file:" + scratch.path().string()}) {
    start(store);
    EXPECT_EQ(ask("BF.RESERVE mon 0.000001 10000").text, "OK");
    EXPECT_EQ(ask("BF.MERGE tue mon").text, "OK");
    ask(keys("BF.MADD mon", 0, 60));
    ask(keys("BF.MADD tue", 40, 100));
    EXPECT_EQ(ask("BF.MERGE week mon tue").text, "OK");
    EXPECT_EQ(found("week", 0, 100), 100);
    EXPECT_EQ(found("week", 100, 400), 0);
    EXPECT_EQ(found("mon", 60, 100), 0) << "a source has changed";
    EXPECT_EQ(ask("BF.MERGE week week").text, "OK");
  }
}

TEST_F(ServedMerge, IsDoneWholeOrNotAtAll) {
  start("mem:");
  ask("BF.RESERVE a 0.000001 1000 NONSCALING");
  for (const auto* name : {"b", "c"}) ask("BF.MERGE " + std::string(name) + " a");
  ask(keys("BF.MADD a", 0, 400));
  ask(keys("BF.MADD b", 400, 800));
  ask(keys("BF.MADD c", 800, 1200));
  EXPECT_THAT(ask("BF.MERGE a b c").text, HasSubstr("keys instead of at most 1000"));
  EXPECT_THAT(ask("BF.MERGE none a b c").text, HasSubstr("keys instead of at most 1000"));
  EXPECT_EQ(ask("EXISTS none").text, "0");
  EXPECT_EQ(found("a", 400, 1200), 0);
  EXPECT_EQ(ask("BF.MERGE a none").text, "ERR not found");
  ask("BF.RESERVE other 0.000001 1000 NONSCALING");
  EXPECT_THAT(ask("BF.MERGE a other").text, HasSubstr("secret seed"));
  EXPECT_THAT(ask("BF.MERGE none a other").text, HasSubstr("secret seed"));
  EXPECT_EQ(ask("EXISTS none").text, "0");
}

TEST_F(ServedMerge, FiltersOfRedisBloomsLayoutAreSiblingsByTheirParameters) {
  start("mem:", {"--redisbloom"});
  for (const auto* name : {"a", "b"}) {
    ask("BF.RESERVE " + std::string(name) + " 0.0001 1000");
    ask(keys("BF.MADD " + std::string(name), name[0] * 100, name[0] * 100 + 100));
  }
  EXPECT_EQ(ask("BF.MERGE a b").text, "OK");
  EXPECT_EQ(found("a", 'a' * 100, 'a' * 100 + 200), 200);
}

TEST_F(ServedMerge, WorksInFrontOfRedis) {
  for (const bool has_module : {false, true}) {
    const redis_server redis(has_module ? with_module() : std::vector<std::string>{});
    start(redis.url());
    ask("BF.RESERVE a 0.000001 1000");
    EXPECT_EQ(ask("BF.MERGE b a").text, "OK");
    ask(keys("BF.MADD a", 0, 60));
    ask(keys("BF.MADD b", 40, 100));
    EXPECT_EQ(ask("BF.MERGE a b").text, "OK");
    EXPECT_EQ(found("a", 0, 100), 100);
    EXPECT_EQ(found("a", 100, 400), 0);
    server_.reset();
  }
}

}  // namespace
}  // namespace everseen::test
