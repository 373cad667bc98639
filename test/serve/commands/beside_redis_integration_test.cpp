// The same request to everseen and to a real Redis: the same shape of reply, and the same error. With Valkey
// in place of Redis, the same where it has not departed from Redis.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;

/// Requests of Redis clients, valid and invalid.
std::vector<std::string> comparable_requests() {
  std::string_view all = R"(
CLIENT ID; CLIENT INFO; CLIENT LIST; CLIENT LIST ID 77777; CLIENT LIST TYPE normal;
CLIENT LIST TYPE nonsense; CLIENT LIST TYPE pubsub; CLIENT LIST nonsense; CLIENT GETNAME;
CLIENT SETNAME x; CLIENT GETNAME; CLIENT SETNAME; CLIENT; MEMORY USAGE none; MEMORY USAGE none SAMPLES 5;
MEMORY USAGE; MEMORY USAGE none SAMPLES -1; MEMORY USAGE none SAMPLES x; MEMORY USAGE none nonsense;
ACL WHOAMI; ACL WHOAMI x; COMMAND COUNT; COMMAND COUNT x; COMMAND INFO nonsense; LASTSAVE; MULTI;
EXISTS none; EXEC; EXEC; DISCARD; INFO; INFO nosuch; AUTH x; AUTH default x; AUTH default x y;
AUTH nobody x; HELLO 9; HELLO x; HELLO 2 nonsense; PING; PING x; PING x y; ECHO x; ECHO; SELECT x;
SELECT 99; SELECT 0; FLUSHALL nonsense; FLUSHDB nonsense; FLUSHALL SYNC ASYNC; FLUSHDB async;
SHUTDOWN SAVE NOSAVE; SHUTDOWN NOW ABORT; SHUTDOWN nonsense; SHUTDOWN ABORT; BGSAVE nonsense;
BGSAVE SCHEDULE nonsense; DBSIZE; KEYS *; SCAN 0; SCAN x; SCAN 0 COUNT 0; SCAN 0 COUNT x; SCAN 0 nonsense x;
DEL none; EXISTS none; TYPE none; TTL none; EXPIRE none 10; EXPIRE none x; EXPIRE none 9223372036854775807;
EXPIRE none 10 nonsense; PERSIST none; RENAME none b; CONFIG GET timeout; CONFIG GET nonsense;
CONFIG SET timeout 1 timeout 2; CONFIG SET timeout; CONFIG;
)";
  std::vector<std::string> lines;
  for (std::size_t end = all.find(';'); end != all.npos; end = all.find(';')) {
    const std::size_t from = all.find_first_not_of(" \n");
    lines.emplace_back(all.substr(from, end - from));
    all.remove_prefix(end + 1);
  }
  return lines;
}

/// A shape with empty lists of modules: Redis 8 has a module built in.
std::string without_modules(std::string shape) {
  for (const std::string_view one : {"(*($)(:)($)(*))", "(%(args=*)(name=$)(path=$)(ver=:))"})
    if (const std::size_t place = shape.find(one); place != shape.npos) shape.erase(place, one.size());
  return shape;
}

/// The same request to everseen and to a Redis.
class BesideRedis : public testing::Test {
 protected:
  void answers_alike(const std::string& line) {
    EXPECT_EQ(shape_of(ask(ours_, line)), without_modules(shape_of(ask(theirs_, line)))) << line;
  }

  [[nodiscard]] bool is_valkey() const {
    return redis_.run({"INFO", "server"}).find("server_name:valkey") != std::string::npos;
  }

  redis_server redis_{};
  serving server_{};
  raw_client ours_{server_.path()};
  raw_client theirs_{redis_.unix_path()};
};

// Promise: Redis's own commands answer in Redis's shapes (operations, Bloom commands).
TEST_F(BesideRedis, AnswersInTheSameShape) {
  const std::vector<std::string> lines = comparable_requests();
  for (const char* version : {"HELLO 2", "HELLO 3"}) {
    answers_alike(version);
    for (const std::string& line : lines) answers_alike(line);
  }
}

std::set<std::string> field_names(const std::string& line) {
  std::set<std::string> names;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    names.insert(line.substr(begin, line.find('=', begin) - begin));
    begin = end + 1;
  }
  return names;
}

TEST_F(BesideRedis, DescribesClientsByTheSameFieldsAndTheLibrary) {
  auto theirs = field_names(ask(theirs_, "CLIENT INFO").text);
  theirs.insert({"lib-name", "lib-ver", "watch", "io-thread"});  // of Redis 7.2 to 8.0
  if (is_valkey())
    for (const char* name : {"capa", "tot-net-in", "tot-net-out", "tot-cmds"}) theirs.erase(name);
  EXPECT_EQ(field_names(ask(ours_, "CLIENT INFO").text), theirs);
  EXPECT_EQ(field_names(ask(ours_, "CLIENT LIST").text), theirs);
}

TEST_F(BesideRedis, DescribesTheActivityOfAClient) {
  EXPECT_EQ(ask(ours_, "CLIENT SETINFO LIB-NAME tester").text, "OK");
  EXPECT_EQ(ask(ours_, "CLIENT SETINFO LIB-VER 1.2").text, "OK");
  raw_client other(server_.path());
  ask(other, "MULTI");
  ask(other, "PING");
  ask(other, "PING");
  const std::string mine = ask(ours_, "CLIENT INFO").text;
  EXPECT_THAT(mine, HasSubstr(" cmd=client|info "));
  EXPECT_THAT(mine, HasSubstr(" flags=N db=0 "));
  EXPECT_THAT(mine, HasSubstr(" multi=-1 "));
  EXPECT_THAT(mine, HasSubstr(" resp=2 lib-name=tester lib-ver=1.2"));
  EXPECT_THAT(ask(ours_, "CLIENT LIST").text,
              HasSubstr(" flags=x db=0 sub=0 psub=0 ssub=0 multi=2 watch=0 "));
  ask(ours_, "HELLO 3");
  EXPECT_THAT(ask(ours_, "CLIENT INFO").text, HasSubstr(" resp=3 "));
}

}  // namespace
}  // namespace everseen::test
