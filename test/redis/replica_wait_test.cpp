// What the answer to a WAIT says about the call before it.

#include "everseen/redis/replica_wait.hpp"

#include <initializer_list>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/redis/reply_text.hpp"

namespace everseen::redis {
namespace {

using ::testing::HasSubstr;

/// What take_off() says of replies to a call, of which the last is that to its WAIT.
std::optional<batch_failure> failure_of(std::initializer_list<std::string_view> replies) {
  redis_url url;
  url.wait_replicas = 1;
  replica_wait wait(url);
  std::vector<reply> all;
  for (const std::string_view each : replies) all.push_back(reply_of(each));
  answer a = std::move(all);
  return wait.take_off({"key", 0}, a);
}

TEST(ReplicaWait, CallThatNoReplicaHasIsAFailure) {
  EXPECT_FALSE(failure_of({"$1\r\n0\r\n", ":1\r\n"}));
  EXPECT_THAT(failure_of({"$1\r\n0\r\n", ":0\r\n"})->message, HasSubstr("only 0 of the 1 replicas"));
}

// What a pipeline did before a refusal is on the master alone.
TEST(ReplicaWait, PipelineWhoseLastCommandIsRefusedIsAFailureAllTheSame) {
  EXPECT_TRUE(failure_of({"*1\r\n:0\r\n", "-OOM command not allowed\r\n", ":0\r\n"}));
}

TEST(ReplicaWait, CallThatWroteNothingHasNothingToWaitFor) {
  EXPECT_FALSE(failure_of({"-NOSCRIPT No matching script\r\n", ":0\r\n"}));
  EXPECT_FALSE(failure_of({"+OK\r\n", "+QUEUED\r\n", "-EXECABORT\r\n", ":0\r\n"})) << "a transaction";
}

}  // namespace
}  // namespace everseen::redis
