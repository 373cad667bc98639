// Words that Redis refuses, and replies with the requested parts.

#include <ctime>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/serve/transcript.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;

class Words : public testing::Test {
 protected:
  void plays(std::string_view transcript) { play(client_, transcript); }

  serving server_{};
  raw_client client_{server_.path()};
};

// Promise: one time more than one slice ahead of the clock changes nothing through any interface (dedup,
// Times in the future).
TEST_F(Words, TimesFarAheadAreRefused) {
  EXPECT_EQ(ask(client_, "EVERSEEN.RESERVE w 0.01 1000 WINDOW 60000").text, "OK");
  for (const std::string request :
       {"EVERSEEN.ADD w TIME 2524608000000 ITEMS a", "EVERSEEN.CHECK w TIME 2524608000000 ITEMS a"})
    EXPECT_THAT(ask(client_, request).text,
                HasSubstr("ERR the time 2050-01-01T00:00:00.000Z is too far ahead of the clock"))
        << request;
  client_.send("*6\r\n$12\r\nEVERSEEN.ADD\r\n$1\r\nw\r\n$5\r\nTIMES\r\n$8\r\n" + std::string(7, '\0') +
               "\x7f\r\n$5\r\nITEMS\r\n$1\r\na\r\n");
  EXPECT_THAT(receive_reply(client_).text, HasSubstr("is too far ahead of the clock"));
  EXPECT_EQ(ask(client_, "EVERSEEN.ADD w ITEMS a").parts.at(0).text, "fresh");
}

TEST_F(Words, ATimeInSecondsIsAnErrorInsteadOfALateKey) {
  EXPECT_EQ(ask(client_, "EVERSEEN.RESERVE w 0.01 1000 WINDOW 60000").text, "OK");
  const std::string seconds = std::to_string(std::time(nullptr));
  EXPECT_THAT(ask(client_, "EVERSEEN.ADD w TIME " + seconds + " ITEMS a").text,
              HasSubstr("ERR the time " + seconds + " seems to be in seconds"));
  EXPECT_EQ(ask(client_, "EVERSEEN.ADD w TIME " + seconds + "000 ITEMS a").parts.at(0).text, "fresh");
}

TEST_F(Words, ATimeForAFilterWithoutAWindowIsAnError) {
  EXPECT_EQ(ask(client_, "BF.RESERVE f 0.01 1000").text, "OK");
  for (const std::string verb : {"EVERSEEN.ADD", "EVERSEEN.CHECK"})
    EXPECT_THAT(ask(client_, verb + " f TIME 1700000000000 ITEMS a").text,
                HasSubstr("ERR a time is for a filter with a window"));
  EXPECT_EQ(ask(client_, "EVERSEEN.ADD f ITEMS a").parts.at(0).text, "fresh");
}

// Words that Redis 7.0 and Valkey refuse alike are in beside_redis_integration_test.cpp.
TEST_F(Words, RefusesOtherWordsThatACommandDoesNotHave) {
  plays(R"(> BGSAVE SCHEDULE
+Background saving started
> CLIENT SETINFO nonsense 1
-ERR Unrecognized option 'nonsense'
> CLIENT SETINFO lib-name "two words"
-ERR lib-name cannot contain spaces, newlines or special characters.
> CLIENT SETINFO LIB-VER 1.2
+OK
> CLIENT LIST ID x
-ERR Invalid client ID
> EVERSEEN.RESERVE a 0.01 100 SLICES 5
-ERR SLICES is for a filter with a WINDOW
> EVERSEEN.RESERVE a 0.01 100 SIPHASH XXH3
-ERR syntax error: the options are WINDOW ms, SLICES n, NONSCALING, and SIPHASH or XXH3
> EXISTS a
:0
)");
}

TEST_F(Words, InfoReturnsTheRequestedSections) {
  plays(R"(> INFO nonsense
$0

> INFO replication
$48
# Replication
role:master
connected_slaves:0

> INFO nonsense keyspace REPLICATION
$94
# Replication
role:master
connected_slaves:0

# Keyspace
db0:keys=0,expires=0,avg_ttl=0

)");
  const std::string all = server_.cli({"INFO"});
  EXPECT_NE(all.find("# Server"), std::string::npos);
  EXPECT_NE(all.find("# Keyspace"), std::string::npos);
  EXPECT_NE(server_.cli({"INFO", "keyspace", "everything"}).find("# Server"), std::string::npos);
}

TEST_F(Words, InfoReturnsOneFieldAsAMapInTheThirdVersion) {
  plays("> BF.RESERVE a 0.01 100 NONSCALING\n+OK\n");
  raw_client third(server_.path());
  third.send("HELLO 3\r\nBF.INFO a CAPACITY\r\nBF.INFO a expansion\r\nQUIT\r\n");
  const std::string replies = third.receive_all();
  const std::string wanted = "%1\r\n+Capacity\r\n:100\r\n%1\r\n+Expansion rate\r\n_\r\n+OK\r\n";
  EXPECT_TRUE(replies.ends_with("*0\r\n" + wanted)) << replies;
}

TEST_F(Words, AuthLogsInTheDefaultUserOfAServerWithoutUsersLikeHello) {
  plays(R"(> AUTH default x
+OK
> AUTH bob x
-WRONGPASS invalid username-password pair or user is disabled.
> HELLO 2 AUTH bob x
-WRONGPASS invalid username-password pair or user is disabled.
> HELLO 2 AUTH default x
*14
)");
}

// Promise: there is one database, and a client that asks for another is refused (operations, Bloom commands).
TEST_F(Words, RefusesOtherDatabasesThanTheFirst) {
  plays(R"(> SELECT 0
+OK
> SELECT 1
-ERR DB index is out of range
> SELECT x
-ERR value is not an integer or out of range
)");
}

// Promise: what a client calls itself has at most 256 bytes (operations, Limits).
TEST_F(Words, RefusesNamesOfClientsThatAreTooLong) {
  const std::string longest(256, 'n');
  for (const std::string given :
       {"CLIENT SETNAME ", "HELLO 2 SETNAME ", "CLIENT SETINFO LIB-NAME ", "CLIENT SETINFO LIB-VER "}) {
    EXPECT_FALSE(ask(client_, given + longest).is_error()) << given;
    EXPECT_THAT(ask(client_, given + longest + "n").text,
                testing::EndsWith(" cannot have more than 256 bytes"))
        << given;
  }
  EXPECT_EQ(ask(client_, "CLIENT GETNAME").text, longest);
}

}  // namespace
}  // namespace everseen::test
