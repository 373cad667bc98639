// Words that Redis refuses, replies with the requested parts, and databases that the server does not have.

#include <ctime>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/server/replies.hpp"
#include "test/server/serving.hpp"
#include "test/server/transcript.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;

class Words : public testing::Test {
 protected:
  void plays(std::string_view transcript) { play(client_, transcript); }

  serving server_{};
  raw_client client_{server_.path()};
};

// Promise: one time more than one window ahead of the clock changes nothing through any interface (dedup,
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
  const std::string now = std::to_string(std::time(nullptr));
  EXPECT_THAT(ask(client_, "EVERSEEN.ADD w TIME " + now + " ITEMS a").text,
              HasSubstr("ERR the time " + now + " seems to be in seconds"));
  EXPECT_EQ(ask(client_, "EVERSEEN.ADD w TIME " + now + "000 ITEMS a").parts.at(0).text, "fresh");
}

TEST_F(Words, ATimeForAFilterWithoutAWindowIsAnError) {
  EXPECT_EQ(ask(client_, "BF.RESERVE f 0.01 1000").text, "OK");
  for (const std::string verb : {"EVERSEEN.ADD", "EVERSEEN.CHECK"})
    EXPECT_THAT(ask(client_, verb + " f TIME 1700000000000 ITEMS a").text,
                HasSubstr("ERR a time is for a filter with a window"));
  EXPECT_EQ(ask(client_, "EVERSEEN.ADD f ITEMS a").parts.at(0).text, "fresh");
}

// Promise: words that a command does not have are refused, and nothing is run (operations, Bloom commands).
TEST_F(Words, RequestWithAnUnknownWordRunsNothing) {
  plays(R"(> BF.ADD a x
:1
> FLUSHALL nonsense
-ERR syntax error
> FLUSHALL SYNC ASYNC
-ERR syntax error
> FLUSHDB nonsense
-ERR syntax error
> SHUTDOWN nonsense
-ERR syntax error
> SHUTDOWN SAVE NOSAVE
-ERR syntax error
> SHUTDOWN NOW ABORT
-ERR syntax error
> SHUTDOWN ABORT
-ERR No shutdown in progress.
> BF.EXISTS a x
:1
> FLUSHDB async
+OK
> BF.EXISTS a x
:0
> FLUSHALL SYNC
+OK
)");
}

TEST_F(Words, RefusesWordsThatRedisRefuses) {
  plays(R"(> BGSAVE nonsense
-ERR syntax error
> BGSAVE SCHEDULE nonsense
-ERR syntax error
> BGSAVE SCHEDULE
+Background saving started
> CONFIG RESETSTAT nonsense
-ERR wrong number of arguments for 'config|resetstat' command
> CONFIG SET timeout 5 timeout 6
-ERR CONFIG SET failed (possibly related to argument 'timeout') - duplicate parameter
> COMMAND COUNT nonsense
-ERR wrong number of arguments for 'command|count' command
> COMMAND LIST nonsense
-ERR syntax error
> MODULE LIST nonsense
-ERR wrong number of arguments for 'module|list' command
> CLIENT LIST nonsense
-ERR syntax error
> CLIENT NO-EVICT nonsense
-ERR syntax error
> CLIENT NO-EVICT on
+OK
> CLIENT NO-TOUCH off
+OK
> CLIENT SETINFO nonsense 1
-ERR Unrecognized option 'nonsense'
> CLIENT SETINFO lib-name "two words"
-ERR lib-name cannot contain spaces, newlines or special characters.
> CLIENT SETINFO LIB-VER 1.2
+OK
> CLIENT KILL ID nonsense
-ERR client-id should be greater than 0
> CLIENT LIST TYPE nonsense
-ERR Unknown client type 'nonsense'
> CLIENT LIST TYPE pubsub
$0

> CLIENT LIST ID x
-ERR Invalid client ID
> CLIENT LIST ID 1000000
$0

> EXPIRE a 9223372036854775807
-ERR invalid expire time in 'expire' command
> SCAN 0 COUNT 0
-ERR syntax error
> SCAN 0 COUNT x
-ERR value is not an integer or out of range
> SCAN 0 NONSENSE x
-ERR syntax error
> EVERSEEN.RESERVE a 0.01 100 SLICES 5
-ERR SLICES is for a filter with a WINDOW
> EVERSEEN.RESERVE a 0.01 100 SIPHASH XXH3
-ERR syntax error
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

// Promise: a client that asked for another database does not use database 0 (operations, Bloom commands).
TEST_F(Words, RequestsInAnUnselectedDatabaseGetNoAnswerFromIt) {
  const std::string refused =
      "-ERR this connection has no database, as SELECT was refused: there are 0 to 15; SELECT one of them "
      "to continue\n";
  plays("> BF.ADD a x\n:1\n> SELECT 16\n-ERR DB index is out of range\n");
  for (const char* request : {"BF.ADD a y", "BF.EXISTS a x", "BF.MADD b x y", "EXISTS a", "MULTI", "FLUSHALL",
                              "CLIENT ID", "INFO", "SELECT 99"})
    plays("> " + std::string(request) + "\n" +
          (std::string_view(request) == "SELECT 99" ? "-ERR DB index is out of range\n" : refused));
  plays(R"(> PING
+PONG
> AUTH default x
+OK
> SELECT 0
+OK
> BF.MEXISTS a x y
*2
:1
:0
> EXISTS a b
:1
> SELECT x
-ERR value is not an integer or out of range
)");
  plays("> BF.EXISTS a x\n" + refused + "> RESET\n+RESET\n> BF.EXISTS a x\n:1\n");
  EXPECT_EQ(raw_client(server_.path()).ask("SELECT -1\r\nQUIT\r\n", 40),
            "-ERR DB index is out of range\r\n+OK\r\n");
}

TEST_F(Words, PipelinesAndTransactionsLeaveTheOtherDatabaseAlone) {
  const std::string refused =
      "-ERR this connection has no database, as SELECT was refused: there are 0 to 15; SELECT one of them "
      "to continue\n";
  plays(
      "> MULTI\n+OK\n> BF.ADD a x\n+QUEUED\n> SELECT 16\n+QUEUED\n> BF.ADD a y\n+QUEUED\n> SELECT "
      "0\n+QUEUED\n"
      "> BF.ADD a z\n+QUEUED\n> EXEC\n*5\n:1\n-ERR DB index is out of range\n" +
      refused + "+OK\n:1\n> BF.EXISTS a y\n:0\n");
  raw_client(server_.path()).ask("BF.ADD a p\r\nSELECT 16\r\nBF.ADD a q\r\nQUIT\r\n", 4'096);
  plays("> BF.MEXISTS a p q\n*2\n:1\n:0\n");
}

// Promise: databases are apart, as in Redis (operations, Bloom commands).
TEST_F(Words, DatabasesKeepTheirFiltersApart) {
  plays(R"(> BF.ADD a x
:1
> SELECT 3
+OK
> BF.EXISTS a x
:0
> BF.MADD a y z
*2
:1
:1
> BF.ADD b y
:1
> KEYS *
*2
$1
a
$1
b
> DBSIZE
:2
> EXISTS a b @3:a
:2
> SELECT 0
+OK
> KEYS *
*1
$1
a
> BF.MEXISTS a x y
*2
:1
:0
> BF.ADD @3:a x
-ERR keys that begin with '@3:' belong to database 3; SELECT it, and leave that beginning out
> BF.EXISTS @3:a y
-ERR keys that begin with '@3:' belong to database 3; SELECT it, and leave that beginning out
> MOVE a 3
:0
> RENAME a c
+OK
> MOVE c 3
:1
> SELECT 3
+OK
> BF.EXISTS c x
:1
> FLUSHDB
+OK
> DBSIZE
:0
> SELECT 0
+OK
> BF.ADD d x
:1
> SELECT 15
+OK
> BF.ADD d x
:1
> FLUSHALL
+OK
> SELECT 0
+OK
> DBSIZE
:0
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

TEST_F(Words, TransactionRunsInTheDatabasesThatItSelects) {
  plays(
      "> MULTI\n+OK\n> BF.ADD a x\n+QUEUED\n> SELECT 1\n+QUEUED\n> BF.ADD a y\n+QUEUED\n> EXEC\n"
      "*3\n:1\n+OK\n:1\n> BF.MEXISTS a x y\n*2\n:0\n:1\n> SELECT 0\n+OK\n> BF.MEXISTS a x y\n*2\n:1\n:0\n");
}

}  // namespace
}  // namespace everseen::test
