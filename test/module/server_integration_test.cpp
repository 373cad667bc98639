// The module from the view of a server and its administrators.

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/server_facts.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

TEST(Server, DocumentsTheCommands) {
  const redis_server server(test::with_module());
  std::istringstream list(server.run({"COMMAND", "LIST", "FILTERBY", "MODULE", "everseen"}));
  const std::set<std::string> names(std::istream_iterator<std::string>(list), {});
  EXPECT_THAT(names, IsSupersetOf({"everseen.add", "everseen.addpacked", "bf.add"}));
  for (const std::string& name : names)
    EXPECT_THAT(server.run({"COMMAND", "DOCS", name}),
                AllOf(HasSubstr("summary\n"), HasSubstr("module\neverseen")))
        << name;
  EXPECT_THAT(server.run({"COMMAND", "DOCS", "everseen.addpacked"}), HasSubstr("digests"));
}

TEST(Server, ReportsTheKeysOfTheCommands) {
  const redis_server server(test::with_module());
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.addpacked", "k", "t", "0", "q", "1", "d"}), "k\nt");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.claimpacked", "k", "r", "l", "h", "0", "0", "d", "o",
                        "p", "0", "c"}),
            "k\nr");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.checkpacked", "k", "0", "d"}), "k");
  EXPECT_EQ(server.run({"COMMAND", "GETKEYS", "everseen.add", "k", "a", "b"}), "k");
}

TEST(Server, LetsAUserWithReadRightsLookUpOnly) {
  const redis_server server(test::with_module());
  server.run({"EVERSEEN.RESERVE", "everseen:f", "0.000001", "100"});
  server.run({"ACL", "SETUSER", "reader", "on", ">secret", "~everseen:*", "+everseen.check"});
  const auto as_reader = [&](std::vector<std::string> words) {
    const std::vector<std::vector<std::string>> both = {{"AUTH", "reader", "secret"}, std::move(words)};
    return test::raw_commands(server.unix_path(), both).back();
  };
  server.run({"EVERSEEN.ADD", "everseen:f", "alice"});
  EXPECT_EQ(as_reader({"EVERSEEN.CHECK", "everseen:f", "alice"}), "1");
  EXPECT_THAT(as_reader({"EVERSEEN.CHECK", "other", "alice"}), StartsWith("-NOPERM"));
  EXPECT_THAT(as_reader({"EVERSEEN.ADD", "everseen:f", "alice"}), StartsWith("-NOPERM"));
}

TEST(Server, ChecksTheRightsOnTokensToo) {
  const redis_server server(test::with_module());
  server.run({"EVERSEEN.RESERVE", "f", "0.000001", "100"});
  server.run({"ACL", "SETUSER", "eve", "on", ">secret", "~f", "+@all"});
  const std::vector<std::string> add = {"EVERSEEN.ADDPACKED",   "f",    "f:t:eve",           "0",
                                        "00000000000000000001", "1000", std::string(16, 'x')};
  const std::vector<std::vector<std::string>> both = {{"AUTH", "eve", "secret"}, add};
  EXPECT_THAT(test::raw_commands(server.unix_path(), both).back(), StartsWith("-NOPERM"));
  server.run({"ACL", "SETUSER", "eve", "~f:t:*"});
  EXPECT_EQ(test::raw_commands(server.unix_path(), both).back(), "0");
}

TEST(Server, NotifiesListenersOfTheKeyspace) {
  const redis_server server(test::with_module());
  server.run({"CONFIG", "SET", "notify-keyspace-events", "Kd"});
  test::listener listening(server.unix_path(), "__keyspace@0__:f");
  server.run({"EVERSEEN.RESERVE", "f", "0.000001", "4"});
  EXPECT_EQ(listening.next(), "bf.reserve");
  server.run({"EVERSEEN.ADD", "f", "alice"});
  EXPECT_EQ(listening.next(), "everseen.add");
  server.run({"EVERSEEN.ADD", "f", "alice"});
  server.run({"EVERSEEN.SEAL", "f", "0123456789abcdef"});
  EXPECT_EQ(listening.next(), "everseen.seal") << "alice was there";
}

TEST(Server, CountsBatchesKeysAndVerdicts) {
  const redis_server server(test::with_module());
  server.run({"EVERSEEN.RESERVE", "f", "0.000001", "100"});
  server.run({"EVERSEEN.ADD", "f", "a", "b", "a"});
  server.run({"EVERSEEN.CHECK", "f", "a", "c"});
  server.run({"EVERSEEN.CHECK", "none", "a"});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"batches", "2"}, {"keys_added", "3"}, {"keys_checked", "2"}, {"fresh", "3"},
      {"seen", "2"},    {"refusals", "1"},   {"growths", "1"}};
  for (const auto& [field, number] : expected)
    EXPECT_EQ(field_of(server, "everseen", "everseen_" + field), number) << field;
}

}  // namespace
}  // namespace everseen::redis_module
