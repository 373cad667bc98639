// What is said about a filter that has no room for a key: the command that makes room is run as it is
// printed.

#include <regex>
#include <string>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

class FullFilter : public Shell {
 protected:
  void SetUp() override { given("seq 100 > FILE; seq 101 150 > more"); }

  /// The command in a message.
  static std::string command_in(const std::string& message) {
    std::smatch found;
    const std::regex command("everseen (rebuild|migrate) [^;,\n]*");
    EXPECT_TRUE(std::regex_search(message, found, command)) << message;
    return found.empty() ? "false" : found[0].str();
  }

  /// Fills a filter that does not grow, and makes room for 50 more keys as the message says.
  void expect_that_the_remedy_works(const std::string& name, const std::string& options = "") const {
    given("everseen create -q " + name + " --capacity 100 --growth refuse" + options);
    given("everseen add -q " + name + " < FILE");
    const program_result refused = sh("everseen add " + name + " < more");
    EXPECT_THAT(refused.err,
                HasSubstr("the filter is full: it was created for 100 keys without growth; to make room, "
                          "with all of its keys in FILE: everseen rebuild " +
                          name + " --capacity 200 < FILE"));
    EXPECT_EQ(refused.exit_code, 3);
    given(command_in(refused.err));
    EXPECT_THAT(sh("everseen add " + name + " < more").out, HasSubstr("50 fresh"));
    EXPECT_THAT(sh("everseen check " + name + " < FILE | grep -c seen").out, "100\n");
  }
};

// Promise: the message about a full filter names the command that makes room (dedup, Runs that end early).
TEST_F(FullFilter, InFilesIsMadeLargerByTheCommandInItsMessage) {
  expect_that_the_remedy_works("small");
  expect_that_the_remedy_works("'a name'");
}

TEST_F(FullFilter, OnRedisIsMadeLargerByTheCommandInItsMessage) {
  const redis_server server(with_module());
  const std::string store = " --store " + server.url();
  for (const char* judge : {"server", "client"}) {
    given("everseen create -q small-"s + judge + " --capacity 100 --growth refuse --judge " + judge + store);
    given("everseen add -q small-"s + judge + store + " < FILE");
    const program_result refused = sh("everseen add small-"s + judge + store + " < more");
    const std::string command = command_in(refused.err);
    EXPECT_THAT(command, HasSubstr("rebuild small-"s + judge + " --capacity 200 < FILE"));
    given("export EVERSEEN_STORE=" + server.url() + "; " + command);
    EXPECT_THAT(sh("everseen add small-"s + judge + store + " < more").out, HasSubstr("50 fresh"));
  }
}

TEST_F(FullFilter, OfRedisBloomIsMadeLargerByTheCommandInItsMessage) {
  const redis_server server;
  const std::string serve =
      "everseen serve -q --redisbloom --store " + server.url() +
      " --listen unix:./s & until redis-cli -s ./s PING >/dev/null 2>&1; do sleep .05; done; ";
  const program_result refused =
      sh(serve +
         "redis-cli -s ./s BF.RESERVE f 0.001 100 NONSCALING; export EVERSEEN_STORE=everseen+unix:$PWD/s; "
         "everseen add -q f < FILE; everseen add f < more; kill $!");
  EXPECT_EQ(refused.err.find("to make room"), refused.err.rfind("to make room")) << refused.err;
  given("export EVERSEEN_STORE=" + server.url() + "; " + command_in(refused.err));
  EXPECT_THAT(sh("everseen add f --store " + server.url() + " < more").out, HasSubstr("50 fresh"));
}

TEST_F(FullFilter, InTheMemoryOfAServerIsReplacedByTheCommandsInItsMessage) {
  const running_program server(
      {"bash", "-c", "exec everseen serve -q --store mem: --listen unix:" + (directory() / "s").string()},
      setup());
  const std::string on_server = "export EVERSEEN_STORE=everseen+unix:$PWD/s; ";
  given("for try in $(seq 600); do [ ! -S s ] || break; sleep 0.05; done");
  given(on_server +
        "everseen create -q 'a name' --capacity 100 --growth refuse; everseen add -q 'a name' < FILE");
  const program_result refused = sh(on_server + "everseen add 'a name' < more");
  EXPECT_THAT(refused,
              Complains(3, "create a larger filter and add the keys; in the memory of everseen serve"));
  std::smatch rename;
  ASSERT_TRUE(std::regex_search(refused.err, rename, std::regex("everseen rename [^;\n]*"))) << refused.err;
  given(on_server + command_in(refused.err) + "; " + rename[0].str());
  EXPECT_THAT(sh(on_server + "everseen add 'a name' < more").out, HasSubstr("50 fresh"));
}

TEST_F(FullFilter, WithAJobIsReplacedByTheCommandInItsMessage) {
  given("everseen create -q small --capacity 100 --growth refuse; cat FILE more > events");
  const program_result ended = sh("everseen stream -q --from events --filter small --to out");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("events is the first event without room, and no more input was read"));
  EXPECT_THAT(sh("wc -l < out").out, "100\n");
  given(command_in(ended.err));
  given("everseen stream -q --from events --filter NEW --to rest");
  EXPECT_THAT(sh("cat out rest | sort -n | cmp - events"), Prints(""));
}

TEST_F(FullFilter, EndsARunThatNamesTheFirstLineWithoutAnAnswer) {
  given("everseen create -q small --capacity 100 --error-rate 1e-12 --growth refuse; seq 1 100000 > events");
  const program_result ended = sh("everseen dedup --filter small events > once");
  EXPECT_THAT(ended, Complains(3, "line 101 of events is the first of ", "no more input was read"));
  given("cp FILE keys; " + std::regex_replace(command_in(ended.err), std::regex("200"), "200000"));
  given("everseen dedup --filter small events >> once; cmp once events");
}

TEST_F(FullFilter, OfGuavaAcceptsMoreAsItsInfoSays) {
  given("everseen create -q g --as guava64 --capacity 100; seq 10000 | everseen add -q g");
  EXPECT_THAT(sh("everseen info g").out, HasSubstr("accepts more, with more errors"));
}

}  // namespace
}  // namespace everseen::test
