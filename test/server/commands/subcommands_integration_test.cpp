// Commands of two words, and unsupported commands.

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/server/replies.hpp"
#include "test/server/serving.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Subcommands : public testing::Test {
 protected:
  serving server_{};
  raw_client client_{server_.path()};
};

TEST_F(Subcommands, AreDescribedByCommandInfo) {
  const reply info = ask(client_, "COMMAND INFO client client|kill bf.add");
  ASSERT_EQ(info.parts.size(), 3U);
  const reply& client = info.parts[0];
  ASSERT_EQ(client.parts.size(), 10U);
  EXPECT_EQ(client.parts[9].parts.size(), ask(client_, "CLIENT HELP").parts.size() - 1);
  EXPECT_EQ(client.parts[9].parts[0].parts[0].text, "client|getname");
  EXPECT_EQ(info.parts[1].parts[0].text, "client|kill");
  EXPECT_EQ(shape_of(info.parts[1].parts[6]), "*(+@fast)(+@admin)(+@dangerous)(+@connection)");
  EXPECT_EQ(shape_of(info.parts[2].parts[6]), "*(+@write)(+@bloom)(+@fast)");
  EXPECT_THAT(ask(client_, "client|id").text,
              StartsWith("ERR unknown command 'client|id' (this is everseen serve): "));
}

TEST_F(Subcommands, AreListedByCommandList) {
  std::set<std::string> names;
  for (const reply& each : ask(client_, "COMMAND LIST").parts) names.insert(each.text);
  EXPECT_TRUE(names.contains("client"));
  EXPECT_TRUE(names.contains("client|list"));
}

// Promise: COMMAND DOCS and COMMAND INFO take at most 512 names (operations, Bloom commands).
TEST_F(Subcommands, AreDescribedForAtMost512Names) {
  for (const std::string asked : {"COMMAND INFO", "COMMAND DOCS"}) {
    std::string request = asked;
    for (int i = 0; i < 512; ++i) request += " ping";
    EXPECT_FALSE(ask(client_, request).is_error()) << asked;
    EXPECT_EQ(ask(client_, request + " ping").text, "ERR one request describes at most 512 commands");
  }
}

TEST_F(Subcommands, DescribeTheCostOfAKey) {
  EXPECT_EQ(ask(client_, "BF.RESERVE a 0.01 1000").text, "OK");
  const std::string bytes = ask(client_, "MEMORY USAGE a SAMPLES 0").text;
  EXPECT_GT(std::stoul(bytes), std::stoul(ask(client_, "BF.INFO a SIZE").parts[0].text));
  EXPECT_EQ(ask(client_, "BF.ADD a x").text, "1");
  EXPECT_EQ(ask(client_, "MEMORY USAGE a").text, bytes);
  EXPECT_EQ(ask(client_, "OBJECT ENCODING a").text, "raw");
  EXPECT_EQ(ask(client_, "OBJECT REFCOUNT a").text, "1");
  EXPECT_THAT(ask(client_, "OBJECT FREQ a").text, StartsWith("ERR An LFU maxmemory policy is not selected"));
  EXPECT_LE(std::stoul(ask(client_, "OBJECT IDLETIME a").text), 60U);
  ask(client_, "SELECT 3");
  EXPECT_TRUE(ask(client_, "MEMORY USAGE a").is_null) << "it is in database 0";
}

TEST_F(Subcommands, CountTheSecondsSinceAFilterWasUsed) {
  ask(client_, "BF.ADD a x");
  std::string idle;
  for (int i = 0; i < 300 && idle != "1"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    idle = ask(client_, "OBJECT IDLETIME a").text;
  }
  EXPECT_EQ(idle, "1");
  ask(client_, "BF.EXISTS a x");
  EXPECT_EQ(ask(client_, "OBJECT IDLETIME a").text, "0");
}

TEST_F(Subcommands, ReturnTheKeysOfARequest) {
  EXPECT_EQ(shape_of(ask(client_, "COMMAND GETKEYS BF.MADD a x y")), "*($)");
  EXPECT_EQ(ask(client_, "COMMAND GETKEYS BF.MADD a x y").parts[0].text, "a");
  EXPECT_EQ(ask(client_, "COMMAND GETKEYS MEMORY USAGE b").parts[0].text, "b");
}

TEST_F(Subcommands, OfClientReplySwitchRepliesOffAndOn) {
  const std::string sent =
      "CLIENT REPLY OFF\r\nPING\r\nBF.ADD a x\r\nBF.MADD a y z\r\nEXISTS a\r\nnonsense\r\nCLIENT REPLY "
      "SKIP\r\n"
      "PING\r\nCLIENT REPLY ON\r\nBF.ADD a x\r\nCLIENT REPLY SKIP\r\nBF.ADD a v\r\nBF.ADD a v\r\n"
      "CLIENT REPLY SKIP\r\nEXISTS a\r\nBF.CARD a\r\nQUIT\r\n";
  client_.send(sent);
  EXPECT_EQ(client_.receive_all(), "+OK\r\n:0\r\n:0\r\n:4\r\n+OK\r\n");
}

TEST_F(Subcommands, OfClientKillEndTheirOwnConnectionAfterTheReply) {
  const std::string id = ask(client_, "CLIENT ID").text;
  client_.send("CLIENT KILL ID " + id + "\r\nCLIENT KILL ID " + id + " SKIPME no\r\nPING\r\n");
  EXPECT_EQ(client_.receive_all(), ":0\r\n:1\r\n");
}

TEST_F(Subcommands, OfClientTrackingExplainWhyTheyAreRefused) {
  EXPECT_THAT(ask(client_, "CLIENT TRACKING ON").text, HasSubstr("a verdict is never a value to cache"));
}

// Promise: a command that is not offered says why (operations, Bloom commands).
TEST_F(Subcommands, UnsupportedCommandsExplainWhy) {
  const std::map<std::string, std::string> reasons = {{"EVAL x 0", "no scripts"},
                                                      {"SUBSCRIBE a", "no channels"},
                                                      {"publish a b", "no channels"},
                                                      {"DUMP a", "BF.SCANDUMP"},
                                                      {"RESTORE a 0 x", "BF.LOADCHUNK"},
                                                      {"MONITOR", "/metrics"},
                                                      {"REPLICAOF a 1", "no replicas"},
                                                      {"SWAPDB 0 1", "MOVE"},
                                                      {"CF.ADD a x", "no key can be removed"},
                                                      {"ACL SETUSER a", "--user"},
                                                      {"CLIENT PAUSE 1", "CLIENT KILL"},
                                                      {"CONFIG REWRITE", "--config"},
                                                      {"BGREWRITEAOF", "SAVE"}};
  for (const auto& [line, why] : reasons) {
    const std::string said = ask(client_, line).text;
    EXPECT_THAT(said, StartsWith("ERR unknown ")) << line;
    EXPECT_THAT(said, HasSubstr(why)) << line;
  }
}

TEST(SubcommandsOfUsers, ReportTheRightsOfUsers) {
  const serving server("mem:", {"--user", "reader:r:read", "--user", "boss:b:admin"});
  raw_client reader(server.path()), boss(server.path());
  EXPECT_TRUE(ask(reader, "ACL WHOAMI").is_error());
  ask(reader, "AUTH reader r");
  ask(boss, "AUTH boss b");
  EXPECT_EQ(ask(reader, "ACL WHOAMI").text, "reader");
  EXPECT_EQ(ask(reader, "ACL LIST").text,
            "NOPERM this user has no permissions to run the 'acl|list' command");
  const reply users = ask(boss, "ACL LIST");
  ASSERT_EQ(users.parts.size(), 2U);
  EXPECT_EQ(users.parts[0].text, "user reader on ~* &* +@all -@write -@admin");
  EXPECT_EQ(users.parts[1].text, "user boss on ~* &* +@all");
  EXPECT_EQ(shape_of(ask(boss, "ACL GETUSER reader")), "*($)(*($))($)(*)($)(*)");
}

}  // namespace
}  // namespace everseen::test
