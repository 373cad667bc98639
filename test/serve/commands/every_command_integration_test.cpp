// Every command, and words that it does not have.

#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"

namespace everseen::test {
namespace {

enum class more_words : bool { refused, taken };

struct a_request {
  std::string line;
  more_words then = more_words::refused;
};

/// A valid request for each command. One more word is a syntax error, except where the command accepts any
/// number of keys, names or patterns, or any word as RedisBloom does.
const std::map<std::string, a_request> request_of_each = {
    {"acl", {"ACL"}},
    {"acl|whoami", {"ACL WHOAMI"}},
    {"auth", {"AUTH default x"}},
    {"bf.add", {"BF.ADD a x"}},
    {"bf.card", {"BF.CARD a"}},
    {"bf.debug", {"BF.DEBUG a"}},
    {"bf.exists", {"BF.EXISTS a x"}},
    {"bf.info", {"BF.INFO a"}},
    {"bf.insert", {"BF.INSERT a ITEMS x", more_words::taken}},
    {"bf.loadchunk", {"BF.LOADCHUNK b 1 x"}},
    {"bf.madd", {"BF.MADD a x", more_words::taken}},
    {"bf.merge", {"BF.MERGE a a"}},
    {"bf.mexists", {"BF.MEXISTS a x", more_words::taken}},
    {"bf.reserve", {"BF.RESERVE other 0.01 100", more_words::taken}},
    {"bf.scandump", {"BF.SCANDUMP a 0"}},
    {"bgsave", {"BGSAVE SCHEDULE"}},
    {"client", {"CLIENT"}},
    {"client|getname", {"CLIENT GETNAME"}},
    {"client|id", {"CLIENT ID"}},
    {"client|info", {"CLIENT INFO"}},
    {"client|list", {"CLIENT LIST"}},
    {"client|setinfo", {"CLIENT SETINFO LIB-NAME x"}},
    {"client|setname", {"CLIENT SETNAME x"}},
    {"command", {"COMMAND"}},
    {"command|count", {"COMMAND COUNT"}},
    {"command|info", {"COMMAND INFO PING", more_words::taken}},
    {"config", {"CONFIG"}},
    {"config|get", {"CONFIG GET timeout", more_words::taken}},
    {"config|set", {"CONFIG SET timeout 0"}},
    {"dbsize", {"DBSIZE"}},
    {"del", {"DEL none", more_words::taken}},
    {"discard", {"DISCARD"}},
    {"echo", {"ECHO x"}},
    {"everseen.add", {"EVERSEEN.ADD a ITEMS x", more_words::taken}},
    {"everseen.check", {"EVERSEEN.CHECK a ITEMS x", more_words::taken}},
    {"everseen.create", {"EVERSEEN.CREATE b x PX 1000"}},
    {"everseen.dump", {"EVERSEEN.DUMP a x 0 1 100"}},
    {"everseen.hello", {"EVERSEEN.HELLO 2"}},
    {"everseen.info", {"EVERSEEN.INFO a"}},
    {"everseen.once", {"EVERSEEN.ONCE x 1 RENAME a c"}},
    {"everseen.partition", {"EVERSEEN.PARTITION a 0"}},
    {"everseen.reserve", {"EVERSEEN.RESERVE b 0.01 100"}},
    {"everseen.reset", {"EVERSEEN.RESET c"}},
    {"everseen.session", {"EVERSEEN.SESSION x"}},
    {"exec", {"EXEC"}},
    {"exists", {"EXISTS a", more_words::taken}},
    {"expire", {"EXPIRE a 1000 NX"}},
    {"expireat", {"EXPIREAT a 4102444800 NX"}},
    {"expiretime", {"EXPIRETIME a"}},
    {"flushall", {"FLUSHALL SYNC"}},
    {"flushdb", {"FLUSHDB"}},
    {"hello", {"HELLO 2"}},
    {"info", {"INFO server", more_words::taken}},
    {"keys", {"KEYS *"}},
    {"lastsave", {"LASTSAVE"}},
    {"memory", {"MEMORY"}},
    {"memory|usage", {"MEMORY USAGE a"}},
    {"multi", {"MULTI"}},
    {"persist", {"PERSIST a"}},
    {"pexpire", {"PEXPIRE a 100000 NX"}},
    {"pexpireat", {"PEXPIREAT a 4102444800000 NX"}},
    {"pexpiretime", {"PEXPIRETIME a"}},
    {"ping", {"PING x"}},
    {"pttl", {"PTTL a"}},
    {"quit", {"QUIT", more_words::taken}},
    {"rename", {"RENAME a c"}},
    {"renamenx", {"RENAMENX a c"}},
    {"reset", {"RESET"}},
    {"save", {"SAVE"}},
    {"scan", {"SCAN 0"}},
    {"select", {"SELECT 0"}},
    {"shutdown", {"SHUTDOWN NOSAVE"}},
    {"ttl", {"TTL a"}},
    {"type", {"TYPE a"}},
    {"unlink", {"UNLINK none", more_words::taken}},
};

// Promise: words that a command does not have are refused, and nothing is run (operations, Bloom commands).
TEST(EveryCommand, RefusesAWordThatItDoesNotHaveAndRunsNothing) {
  const serving server;
  raw_client other(server.path());
  ASSERT_EQ(ask(other, "BF.ADD a x").text, "1");
  std::set<std::string> commands;
  for (const reply& each : ask(other, "COMMAND").parts) {
    commands.insert(each.parts[0].text);
    for (const reply& part : each.parts[9].parts) commands.insert(part.parts[0].text);
  }
  for (const auto& [name, request] : request_of_each) {
    EXPECT_EQ(commands.erase(name), 1U) << name << " is no command";
    raw_client client(server.path());
    const reply answer = ask(client, request.line + " nonsense");
    if (request.then == more_words::taken)
      EXPECT_FALSE(answer.is_error()) << name << ": " << answer.text;
    else
      EXPECT_TRUE(answer.is_error()) << name << ": " << answer.type << answer.text;
    EXPECT_EQ(ask(other, "BF.EXISTS a x").text, "1") << name;
    EXPECT_EQ(ask(other, "TTL a").text, "-1") << name;
    EXPECT_EQ(ask(other, "EXISTS b c").text, "0") << name;
  }
  EXPECT_THAT(commands, testing::IsEmpty()) << "of these no request is here";
  EXPECT_EQ(ask(other, "PING").text, "PONG");
}

}  // namespace
}  // namespace everseen::test
