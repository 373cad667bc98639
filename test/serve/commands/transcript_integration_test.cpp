// The server's replies, byte by byte, over a real socket: each request follows "> ", and the bytes of its
// replies come after it, with \r\n as the end of a line.

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "test/serve/serving.hpp"
#include "test/serve/transcript.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

class Transcript : public testing::Test {
 protected:
  void plays(std::string_view transcript) { play(client_, transcript); }

  serving server_{};

 private:
  raw_client client_{server_.path()};
};

TEST_F(Transcript, AddsToANewFilterAndReportsFreshKeys) {
  plays(R"(> BF.ADD clicks alice
:1
> BF.ADD clicks alice
:0
> BF.EXISTS clicks alice
:1
> BF.EXISTS clicks bob
:0
> BF.MADD clicks bob alice carol bob
*4
:1
:0
:1
:0
> BF.MEXISTS clicks bob dave
*2
:1
:0
> BF.CARD clicks
:3
)");
}

// Promise: a missing filter is empty (operations, Bloom commands).
TEST_F(Transcript, ReportsThatAMissingFilterHasNoKeys) {
  plays(R"(> BF.EXISTS none a
:0
> BF.MEXISTS none a b
*2
:0
:0
> BF.CARD none
:0
> BF.INFO none
-ERR not found
> EXISTS none
:0
)");
}

// Promise: replies and rules are those that clients of RedisBloom know (operations, Bloom commands).
TEST_F(Transcript, ReservesByTheRulesThatClientsKnow) {
  plays(R"(> BF.RESERVE a 0.01 1000
+OK
> BF.RESERVE a 0.01 1000
-ERR item exists
> BF.RESERVE b x 1000
-ERR bad error rate
> BF.RESERVE b 1 1000
-ERR error rate must be in the range (0.000000, 1.000000)
> BF.RESERVE b 0.01 x
-ERR bad capacity
> BF.RESERVE b 0.01 0
-ERR capacity must be in the range [1, 281474976710656]
> BF.RESERVE b 0.01 100 EXPANSION x
-ERR bad expansion
> BF.RESERVE b 0.01 100 EXPANSION
-ERR no expansion
> BF.RESERVE b 0.01 100 EXPANSION 99999
-ERR expansion must be in the range [0, 32768]
> BF.RESERVE b 0.01 100 EXPANSION 2 NONSCALING
-Nonscaling filters cannot expand
> BF.RESERVE b 0.01
-ERR wrong number of arguments for 'bf.reserve' command
> EXISTS b
:0
)");
}

// Promise: a rate that no filter keeps is refused (operations, Bloom commands).
TEST_F(Transcript, RefusesARateThatNoFilterKeepsAndNamesTheLowest) {
  plays(R"(> BF.RESERVE a 1e-300 10
-ERR error rate must be at least 1e-15: no filter errs less
> BF.INSERT a ERROR 9e-16 ITEMS x
-ERR error rate must be at least 1e-15: no filter errs less
> EVERSEEN.RESERVE a 1e-16 10
-ERR error rate must be at least 1e-15: no filter errs less
> EXISTS a
:0
> BF.RESERVE a 1e-15 10
+OK
)");
}

TEST_F(Transcript, RefusedRequestChangesNoSetting) {
  plays(R"(> CONFIG SET timeout 77 appendonly yes
-ERR CONFIG SET failed - 'appendonly' cannot be set to 'yes'; maxclients, maxmemory (bytes, as in 100mb) and timeout (seconds) take a number, all else is an option of everseen serve
> CONFIG SET timeout 77 maxclients -1
-ERR CONFIG SET failed - 'maxclients' cannot be set to '-1'; maxclients, maxmemory (bytes, as in 100mb) and timeout (seconds) take a number, all else is an option of everseen serve
> CONFIG GET timeout
*2
$7
timeout
$1
0
> CONFIG SET timeout 77 maxclients 500
+OK
> CONFIG GET timeout
*2
$7
timeout
$2
77
)");
}

TEST_F(Transcript, RefusesKeysWhenAFilterWithoutGrowthIsFull) {
  plays(R"(> BF.RESERVE small 0.000001 2 NONSCALING
+OK
> BF.MADD small a b c a
*3
:1
:1
-ERR non scaling filter is full
> BF.ADD small d
-ERR non scaling filter is full
> BF.INFO small EXPANSION
*1
$-1
> BF.INFO small ITEMS
*1
:2
)");
}

TEST_F(Transcript, InsertsWithOptions) {
  plays(R"(> BF.INSERT a NOCREATE ITEMS x
-ERR not found
> BF.INSERT a CAPACITY 5000 ERROR 0.001 EXPANSION 4 ITEMS x y x
*3
:1
:1
:0
> BF.INFO a CAPACITY
*1
:5000
> BF.INSERT a ITEMS z
*1
:1
> BF.INSERT b CAPACITY 0 ITEMS x
-Bad capacity
> BF.INSERT b ERROR 2 ITEMS x
-Bad error rate
> BF.INSERT b EXPANSION x ITEMS x
-Bad expansion
> BF.INSERT b BOGUS ITEMS x
-Unknown argument received
> BF.INSERT b CAPACITY 10 ITEMS
-ERR wrong number of arguments for 'bf.insert' command
> EXISTS b
:0
)");
}

TEST_F(Transcript, ReportsTheFieldsOfInfo) {
  plays(R"(> BF.RESERVE a 0.01 100
+OK
> BF.ADD a x
:1
> BF.INFO a
*10
+Capacity
:100
+Size
:192
+Number of filters
:1
+Number of items inserted
:1
+Expansion rate
:2
> BF.INFO a BOGUS
-Invalid information value
)");
}

TEST_F(Transcript, AnswersBooleansAndMapsInTheThirdVersion) {
  plays(
      "> HELLO 3\n%7\n$6\nserver\n$8\neverseen\n$7\nversion\n$5\n0.1.0\n$5\nproto\n:3\n$2\nid\n:1\n$4\nmode\n"
      "$10\nstandalone\n$4\nrole\n$6\nmaster\n$7\nmodules\n*0\n"
      "> BF.ADD a x\n#t\n> BF.MADD a x y\n*2\n#f\n#t\n> BF.EXISTS a nobody\n#f\n"
      "> BF.INFO a\n%5\n+Capacity\n:100\n+Size\n:192\n+Number of filters\n:1\n+Number of items inserted\n:2\n"
      "+Expansion rate\n:2\n> CLIENT GETNAME\n_\n");
}

TEST_F(Transcript, RunsTransactions) {
  plays(R"(> MULTI
+OK
> BF.ADD a x
+QUEUED
> BF.EXISTS a x
+QUEUED
> EXEC
*2
:1
:1
> MULTI
+OK
> BF.ADD a
-ERR wrong number of arguments for 'bf.add' command
> EXEC
-EXECABORT Transaction discarded because of previous errors.
> EXEC
-ERR EXEC without MULTI
> MULTI
+OK
> BF.ADD a z
+QUEUED
> DISCARD
+OK
> BF.EXISTS a z
:0
)");
}

TEST_F(Transcript, AcceptsKeysOfAnyBytes) {
  plays(R"(> BF.ADD user:42:seen x
:1
> BF.ADD "a\x00b\xff" x
:1
> BF.EXISTS "a\x00b\xff" x
:1
> KEYS user:*
*1
$12
user:42:seen
> TYPE user:42:seen
+MBbloom--
> TYPE none
+none
> DBSIZE
:2
> DEL user:42:seen none
:1
> BF.EXISTS user:42:seen x
:0
> FLUSHALL
+OK
> DBSIZE
:0
> BF.ADD a x
:1
> FLUSHDB async
+OK
> DBSIZE
:0
)");
}

/// On every kind of store: all of them make the same promises.
class TranscriptAnywhere : public testing::TestWithParam<const char*> {
 protected:
  static std::string store(const redis_server& redis, const scratch_directory& files) {
    const std::string kind = GetParam();
    if (kind == "file") return "file:" + files.path().string();
    return kind == "redis" ? redis.unix_url() : "mem:";
  }
  void plays(std::string_view transcript) { play(client_, transcript); }

  redis_server redis_{};
  scratch_directory files_{};
  serving server_{store(redis_, files_)};
  raw_client client_{server_.path()};
};
INSTANTIATE_TEST_SUITE_P(Stores, TranscriptAnywhere, testing::Values("mem", "file", "redis"),
                         [](const auto& one) { return std::string(one.param); });

// Promise: EXPIRE and its kin end filters at their time, in every store (operations, Bloom commands).
TEST_P(TranscriptAnywhere, EndsFiltersAfterTheirTime) {
  plays(R"(> BF.ADD a x
:1
> TTL a
:-1
> PEXPIRETIME a
:-1
> EXPIRE a 1000
:1
> EXPIRE a 900 GT
:0
> PEXPIRE a 1000499 GT
:1
> TTL a
:1000
> EXPIRE a 2000 NX
:0
> EXPIRE a 2000 LT
:0
> EXPIRE a 2000 XX GT
:1
> EXPIRE a 1900 GT
:0
> PEXPIRE a 2000499 GT
:1
> TTL a
:2000
> PERSIST a
:1
> PERSIST a
:0
> PTTL a
:-1
> EXPIRE a 10 XX
:0
> EXPIRE a 10 GT
:0
> EXPIREAT a 4102444800
:1
> EXPIRETIME a
:4102444800
> PEXPIREAT a 4102444800001
:1
> PEXPIRETIME a
:4102444800001
> BF.ADD a x
:0
> EXPIRE a 10 NX XX
-ERR NX and XX, GT or LT options at the same time are not compatible
> EXPIRE a 10 GT LT
-ERR GT and LT options at the same time are not compatible
> EXPIRE a 10 SOON
-ERR Unsupported option SOON
> EXPIRE a x
-ERR value is not an integer or out of range
> EXPIRE none 10
:0
> EXPIRE a 0
:1
> EXISTS a
:0
> TTL a
:-2
> EXPIRETIME a
:-2
> BF.ADD b x
:1
> PEXPIRE b 3000
:1
> BF.ADD b x
:0
)");
  std::this_thread::sleep_for(std::chrono::milliseconds(3150));
  plays(R"(> EXISTS b
:0
> BF.EXISTS b x
:0
> TTL b
:-2
> KEYS *
*0
> BF.ADD b x
:1
> TTL b
:-1
)");
}

TEST_P(TranscriptAnywhere, RenamesFilters) {
  plays(R"(> RENAME a b
-ERR no such key
> BF.ADD a x
:1
> PEXPIRE a 1000499
:1
> RENAME a b
+OK
> EXISTS a
:0
> BF.EXISTS b x
:1
> TTL b
:1000
> BF.ADD a y
:1
> RENAMENX a b
:0
> BF.EXISTS b y
:0
> RENAMENX a c
:1
> BF.ADD c y
:0
> RENAME c b
+OK
> BF.MEXISTS b x y
*2
:0
:1
> TTL b
:-1
> RENAME b b
+OK
> RENAMENX b b
:0
> RENAME none none
-ERR no such key
> DBSIZE
:1
> RENAME b user:42
+OK
> BF.EXISTS user:42 y
:1
> MULTI
+OK
> BF.ADD d z
+QUEUED
> RENAME d user:42
+QUEUED
> BF.MEXISTS user:42 y z
+QUEUED
> DEL user:42
+QUEUED
> EXEC
*4
:1
+OK
*2
:0
:1
:1
> DBSIZE
:0
)");
}

// Promise: keys of a window are judged by the time that is given (operations, Bloom commands).
TEST_F(Transcript, JudgesInWindowsByTheGivenTime) {
  plays(R"(> EVERSEEN.RESERVE w 0.01 1000 WINDOW 60000 SLICES 6
+OK
> EVERSEEN.ADD w TIME 1000000 ITEMS a a b
*3
+fresh
+seen
+fresh
> EVERSEEN.ADD w TIME 1100000 ITEMS a
*1
+fresh
> EVERSEEN.CHECK w TIME 1000000 ITEMS a
*1
+late
> EVERSEEN.ADD w ITEMS
-ERR wrong number of arguments for 'everseen.add' command
> EVERSEEN.RESERVE v 0.01 10 WINDOW x
-ERR 'x' is not a whole number from 1 to 3153600000000
)");
}

TEST_F(Transcript, AnswersWhatClientsSendByThemselves) {
  plays(R"(> AUTH x
-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?
> PING
+PONG
> ECHO "two words"
$9
two words
)");
}

TEST_F(Transcript, EndsAConnectionWithAForgedBrowserRequestAndRunsNothing) {
  for (const std::string first :
       {"POST / HTTP/1.1", "get /x HTTP/1.1", "OPTIONS * HTTP/1.1", "Host: 127.0.0.1", "host:x"})
    EXPECT_EQ(raw_client(server_.path()).ask(first + "\r\nHost: x\r\n\r\nBF.ADD pwned x\r\nPING\r\n", 1), "")
        << first;
  EXPECT_EQ(raw_client(server_.path()).ask("PING\r\nPOST / HTTP/1.1\r\nPING\r\n", 20), "+PONG\r\n");
  plays(R"(> EXISTS pwned
:0
> BF.ADD protocols HTTP/1.1
:1
)");
}

// Promise: a pipeline is answered in the order of its requests (operations, Bloom commands).
TEST_F(Transcript, AnswersAPipelineInTheOrderOfItsRequests) {
  const std::vector<std::vector<std::string>> requests = {
      {"BF.ADD", "a", "x"},    {"BF.EXISTS", "a", "x"},    {"BF.ADD", "b", "x"},
      {"BF.ADD", "a", "y"},    {"BF.EXISTS", "a", "y"},    {"PING"},
      {"BF.EXISTS", "b", "y"}, {"BF.MADD", "a", "x", "z"}, {"DEL", "a"},
      {"BF.EXISTS", "a", "x"}};
  const std::string replies = ":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n+PONG\r\n:0\r\n*2\r\n:0\r\n:1\r\n:1\r\n:0\r\n";
  std::string sent, typed;
  for (const auto& request : requests) {
    sent += encoded(request);
    for (const std::string& word : request) typed += word + " ";
    typed += "\r\n";
  }
  EXPECT_EQ(raw_client(server_.path()).ask(sent, replies.size()), replies);
  EXPECT_EQ(server_.cli({"FLUSHALL"}), "OK");
  EXPECT_EQ(raw_client(server_.path()).ask(typed, replies.size()), replies);
}

}  // namespace
}  // namespace everseen::test
