// Existing programs, unchanged: redis-py and the examples.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/serving.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

std::string source(const std::string& path) {
  return test::source_directory() + "/" + path;
}

/// The interpreter for which Debian has redis-py; another one may come first in PATH.
constexpr const char* python = "/usr/bin/python3";

void satisfies_redis_py(const serving& server) {
  const program_result result = run_program({python, source("test/serve/redis_py_client.py"), server.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
}

// Promise: replies and rules are those that clients of RedisBloom know (operations, Bloom commands).
TEST(RedisPy, WorksOnFiltersInMemory) {
  satisfies_redis_py(serving("mem:"));
}

TEST(RedisPy, WorksOnFiltersInFiles) {
  const scratch_directory files;
  satisfies_redis_py(serving("file:" + files.path().string()));
}

TEST(RedisPy, WorksOnFiltersInARedisWithoutModules) {
  const redis_server redis;
  satisfies_redis_py(serving(redis.url()));
}

TEST(Examples, ReportNewUsers) {
  const serving server;
  for (const std::vector<std::string>& example :
       {std::vector<std::string>{python, source("examples/python/first_visit.py")},
        std::vector<std::string>{source("examples/redis-cli/first_visit.sh")}}) {
    std::vector<std::string> command = example;
    command.insert(command.end(), {server.path(), "alice", "bob", "alice"});
    EXPECT_EQ(run_program(command).out, "alice is new\nbob is new\nalice was here before\n");
    EXPECT_EQ(server.cli({"FLUSHALL"}), "OK");
  }
}

TEST(RedisCli, LoadsAPipeOfRequests) {
  const serving server;
  std::string requests;
  for (int i = 0; i < 10'000; ++i) requests += encoded({"BF.ADD", "f", std::to_string(i)});
  const program_result result =
      run_program({"redis-cli", "-s", server.path(), "--pipe"}, {{}, {}, requests, false});
  EXPECT_THAT(result.out, testing::HasSubstr("errors: 0, replies: 10000"));
}

}  // namespace
}  // namespace everseen::test
