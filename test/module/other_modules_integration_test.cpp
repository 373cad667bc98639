// Other modules of the server that call the commands.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/module_server.hpp"
#include "test/support/places.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::StartsWith;

class OtherModules : public testing::Test {
 protected:
  OtherModules() {
    (void)filter_at(server_, "f", {.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
    state_ = state_of(server_, "f");
  }
  std::string run(std::initializer_list<std::string> words) const { return server_.run(words); }
  [[nodiscard]] std::string as_eve(std::vector<std::string> words) const {
    const std::vector<std::vector<std::string>> both = {{"AUTH", "eve", "secret"}, std::move(words)};
    return test::raw_commands(server_.unix_path(), both).back();
  }

  redis_server server_{joined(test::with_module(), {"--loadmodule", test::calling_module()})};
  std::string state_;
};

TEST_F(OtherModules, AddAndLookUpWithoutAUser) {
  EXPECT_EQ(run({"CALLING.RUN", "EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
  EXPECT_EQ(run({"CALLING.RUN", "EVERSEEN.CHECKKEYS", "everseen:f", "alice", "bob"}), "1\n0");
  EXPECT_THAT(run({"CALLING.RUN", "EVERSEEN.INFO", "everseen:f"}), StartsWith("capacity\n1000"));
  EXPECT_THAT(run({"CALLING.RUN", "EVERSEEN.EXPLAIN", "everseen:f", "alice"}), StartsWith(state_));
  EXPECT_EQ(run({"CALLING.RUN", "EVERSEEN.CHECK", state_, run({"HGET", state_, "epoch"}), "0",
                 std::string(16, 'x')}),
            "0");
}

TEST_F(OtherModules, AddAsAUserWithTheRightsOfThatUser) {
  run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"});
  run({"ACL", "SETUSER", "eve", "on", ">secret", "resetkeys", "~" + state_, "+@all"});
  EXPECT_THAT(as_eve({"CALLING.RUNAS", "EVERSEEN.ADDKEYS", state_, "bob"}), StartsWith("-NOPERM"));
  EXPECT_THAT(as_eve({"EVAL", "return redis.call('EVERSEEN.ADDKEYS', KEYS[1], 'bob')", "1", state_}),
              StartsWith("-NOPERM"));
  run({"ACL", "SETUSER", "eve", "~" + state_ + ":*"});
  EXPECT_EQ(as_eve({"CALLING.RUNAS", "EVERSEEN.ADDKEYS", state_, "bob"}), "1");
  EXPECT_EQ(run({"ACL", "LOG"}).find("NOTHING"), std::string::npos);
}

TEST(OtherOwner, KeepsBfAddAndTheServerStarts) {
  const redis_server server(joined({"--loadmodule", test::owning_module()}, test::with_module()));
  EXPECT_EQ(server.run({"BF.ADD", "f", "a"}), "theirs");
  EXPECT_THAT(server.run({"BF.RESERVE", "f", "0.01", "100"}), StartsWith("-ERR unknown command"))
      << "no mixture of two modules";
  (void)filter_at(server, "f", {.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  EXPECT_EQ(server.run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
}

// It would judge other keys with the memory of the call that waits.
TEST_F(OtherModules, CannotAddWithinAnAdd) {
  const std::vector<std::string> keys = {"EVERSEEN.ADDKEYS", "everseen:f", "a", "b", "c", "d", "e"};
  EXPECT_EQ(test::raw_command(server_.unix_path(), keys), "1\n1\n1\n1\n1");
  EXPECT_EQ(run({"CALLING.LAST"}), "refused");
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "another"}), "0");
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "another"}), "1") << "the call has ended";
}

}  // namespace
}  // namespace everseen::redis_module
