// Other modules of the server that call the commands.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/server_facts.hpp"
#include "test/support/places.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::StartsWith;

class OtherModules : public testing::Test {
 protected:
  OtherModules() { run({"EVERSEEN.RESERVE", "f", "0.000000001", "1000"}); }
  std::string run(std::initializer_list<std::string> words) const { return server_.run(words); }

  redis_server server_{joined(test::with_module(), {"--loadmodule", test::calling_module()})};
};

TEST_F(OtherModules, AddAndLookUpWithoutAUser) {
  EXPECT_EQ(run({"CALLING.RUN", "EVERSEEN.ADD", "f", "ITEMS", "alice"}), "fresh");
  EXPECT_EQ(run({"CALLING.RUN", "EVERSEEN.CHECK", "f", "ITEMS", "alice", "bob"}), "seen\nfresh");
  EXPECT_THAT(run({"CALLING.RUN", "EVERSEEN.INFO", "f"}), StartsWith("name\nf\nkeys\n1\ncapacity\n1000"));
  EXPECT_EQ(run({"CALLING.RUN", "EVERSEEN.CHECKPACKED", "f", "0", std::string(16, 'x')}), "0");
}

TEST_F(OtherModules, AddAsAUserWithTheRightsOfThatUser) {
  run({"ACL", "SETUSER", "eve", "on", ">secret", "resetkeys", "~other", "+@all"});
  const std::vector<std::vector<std::string>> as_eve = {
      {"AUTH", "eve", "secret"}, {"CALLING.RUNAS", "EVERSEEN.ADD", "f", "ITEMS", "bob"}};
  EXPECT_THAT(test::raw_commands(server_.unix_path(), as_eve).back(), StartsWith("-"));
  run({"ACL", "SETUSER", "eve", "~f"});
  EXPECT_EQ(test::raw_commands(server_.unix_path(), as_eve).back(), "fresh");
}

TEST(OtherOwner, KeepsBfAddAndTheServerStarts) {
  const redis_server server(joined({"--loadmodule", test::owning_module()}, test::with_module()));
  EXPECT_EQ(server.run({"BF.ADD", "f", "a"}), "theirs");
  EXPECT_THAT(server.run({"BF.RESERVE", "f", "0.01", "100"}), StartsWith("-ERR unknown command"))
      << "no mixture of two modules";
  EXPECT_EQ(server.run({"EVERSEEN.RESERVE", "v", "0.01", "100"}), "OK");
  EXPECT_EQ(server.run({"EVERSEEN.ADD", "v", "ITEMS", "alice"}), "fresh");
  server.run({"DEBUG", "RELOAD"});
  EXPECT_EQ(server.run({"EVERSEEN.ADD", "v", "ITEMS", "alice"}), "seen");
}

// It would judge other keys with the memory of the call that waits.
TEST_F(OtherModules, CannotAddWithinAnAdd) {
  const std::vector<std::string> keys = {"EVERSEEN.ADD", "f", "ITEMS", "a", "b", "c", "d", "e"};
  EXPECT_EQ(test::raw_command(server_.unix_path(), keys), "fresh\nfresh\nfresh\nfresh\nfresh");
  EXPECT_EQ(run({"CALLING.LAST"}), "refused");
  EXPECT_EQ(run({"EVERSEEN.CHECK", "f", "ITEMS", "another"}), "fresh");
  EXPECT_EQ(run({"EVERSEEN.ADD", "f", "ITEMS", "another"}), "fresh") << "the call has ended";
}

}  // namespace
}  // namespace everseen::redis_module
