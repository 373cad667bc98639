// The command set of a server, detected from its reply.

#include "everseen/redis/served/command_set.hpp"

#include <gtest/gtest.h>

#include "test/redis/wire/reply_text.hpp"

namespace everseen::redis {
namespace {

reply described(const std::string& arity) {
  return reply_of("*1\r\n*6\r\n$12\r\neverseen.add\r\n:" + arity + "\r\n*1\r\n+write\r\n:1\r\n:2\r\n:1\r\n");
}

TEST(ChoiceOfCommands, RecognizesAModuleThatSupportsSlicesByItsArity) {
  EXPECT_TRUE(says_module(described("-8")));
}

TEST(ChoiceOfCommands, RejectsAnOlderModuleWithoutSliceSupport) {
  EXPECT_FALSE(says_module(described("8")));
}

TEST(ChoiceOfCommands, RecognizesAServerWithoutAModule) {
  EXPECT_FALSE(says_module(reply_of("*1\r\n*-1\r\n")));
  EXPECT_FALSE(says_module(reply_of("-NOPERM no permission to run 'command|info'\r\n")));
}

}  // namespace
}  // namespace everseen::redis
