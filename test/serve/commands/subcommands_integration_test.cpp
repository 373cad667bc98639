// Commands of two words, and unsupported commands.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"

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
  const reply info = ask(client_, "COMMAND INFO client client|list bf.add nonsense");
  ASSERT_EQ(info.parts.size(), 4U);
  const reply& client = info.parts[0];
  ASSERT_EQ(client.parts.size(), 10U);
  EXPECT_EQ(client.parts[9].parts[0].parts[0].text, "client|getname");
  EXPECT_EQ(info.parts[1].parts[0].text, "client|list");
  EXPECT_EQ(shape_of(info.parts[2].parts[2]), "*(+write)(+fast)");
  EXPECT_EQ(info.parts[2].parts[3].text, "1") << "the first word is the key";
  EXPECT_TRUE(info.parts[3].is_null);
  EXPECT_EQ(ask(client_, "COMMAND COUNT").text, std::to_string(ask(client_, "COMMAND").parts.size()));
}

// Promise: COMMAND INFO takes at most 512 names (operations, Bloom commands).
TEST_F(Subcommands, AreDescribedForAtMost512Names) {
  std::string request = "COMMAND INFO";
  for (int i = 0; i < 512; ++i) request += " ping";
  EXPECT_FALSE(ask(client_, request).is_error());
  EXPECT_EQ(ask(client_, request + " ping").text, "ERR one request describes at most 512 commands");
}

// Promise: CLIENT LIST takes at most 512 IDs (operations, Bloom commands).
TEST_F(Subcommands, ListAtMost512ClientsById) {
  std::string request = "CLIENT LIST ID";
  for (int i = 1; i <= 512; ++i) request += " " + std::to_string(i);
  EXPECT_THAT(ask(client_, request).text, HasSubstr("cmd=client|list"));
  EXPECT_EQ(ask(client_, request + " 513").text, "ERR one request lists at most 512 clients by their ID");
}

// Promise: a pattern of KEYS or SCAN has at most 2 KiB (operations, Bloom commands).
TEST_F(Subcommands, AndCommandsThatTakeAPatternRefuseOneThatNoNameNeeds) {
  const std::string name(1024, '*');
  std::string pattern;
  for (const char c : name) pattern += {'\\', c};
  EXPECT_EQ(ask(client_, "BF.ADD " + name + " x").text, "1");
  for (const std::string command : {"KEYS ", "SCAN 0 MATCH "}) {
    const reply found = ask(client_, command + pattern);
    EXPECT_EQ((command == "KEYS " ? found : found.parts.at(1)).parts.size(), 1U) << command;
    EXPECT_EQ(ask(client_, command + pattern + "*").text, "ERR a pattern has at most 2048 bytes") << command;
  }
}

TEST_F(Subcommands, DescribeTheCostOfAFilter) {
  EXPECT_EQ(ask(client_, "BF.RESERVE a 0.01 1000").text, "OK");
  const std::string bytes = ask(client_, "MEMORY USAGE a SAMPLES 0").text;
  EXPECT_GT(std::stoul(bytes), std::stoul(ask(client_, "BF.INFO a SIZE").parts[0].text));
  EXPECT_EQ(ask(client_, "BF.ADD a x").text, "1");
  EXPECT_EQ(ask(client_, "MEMORY USAGE a").text, bytes);
  EXPECT_TRUE(ask(client_, "MEMORY USAGE b").is_null);
}

// Promise: a command that is not offered is refused in the words of Redis (operations, Bloom commands).
TEST_F(Subcommands, AndCommandsThatAreNotOfferedAreRefusedInTheWordsOfRedis) {
  EXPECT_EQ(ask(client_, "EVAL script 0").text,
            "ERR unknown command 'EVAL', with args beginning with: 'script' '0' (this is everseen serve)");
  EXPECT_EQ(ask(client_, "CLIENT KILL ID 3").text, "ERR unknown subcommand 'KILL'.");
  EXPECT_THAT(ask(client_, "client|id").text, StartsWith("ERR unknown command 'client|id'"));
  const std::string long_word(1000, 'x');
  EXPECT_LT(ask(client_, long_word + " " + long_word).text.size(), 400U);
}

TEST(SubcommandsOfUsers, NameTheUserOfAConnection) {
  const serving server("mem:", {"--user", "reader:r:read"});
  raw_client reader(server.path());
  EXPECT_TRUE(ask(reader, "ACL WHOAMI").is_error());
  ask(reader, "AUTH reader r");
  EXPECT_EQ(ask(reader, "ACL WHOAMI").text, "reader");
}

}  // namespace
}  // namespace everseen::test
