#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/serving.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::client {
namespace {

using namespace std::chrono_literals;
using test::redis_server;
using test::running_program;
using testing::HasSubstr;
using words = std::vector<std::string>;

words lines_of(const std::string& text) {
  words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

/// Runs of `everseen dedup` over an `everseen serve` in front of a Redis server that fails.
class OutageBehindTheServer : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int clients = 8;

  /// @param of_store  options of the server's URL of its store
  void start(const std::string& of_store, const words& of_server = {}) {
    const auto created =
        test::run_program({test::everseen_program(), "create", "f", "--store", redis.unix_url(), "--judge",
                           GetParam(), "--capacity", "2M", "--error-rate", "1e-12"});
    ASSERT_EQ(created.exit_code, 0) << created.err;
    server = std::make_unique<test::serving>(redis.unix_url(of_store), of_server);
  }

  /// Each input begins with a line of its own, so each client prints something however late it comes. Most
  /// of the others occur in that of another client, too.
  void start_clients(int lines) {
    for (int i = 0; i < clients; ++i) {
      std::ofstream in(server->directory() / ("in" + std::to_string(i)));
      const std::string own = "only of client " + std::to_string(i);
      in << own << '\n';
      every_line.insert(own);
      for (int k = 0; k < lines; ++k) {
        const std::string line = "key " + std::to_string(i * lines / 2 + k);
        in << line << '\n';
        every_line.insert(line);
      }
    }
    test::program_setup more;
    more.piped_input = true;
    for (int i = 0; i < clients; ++i)
      runs.push_back(std::make_unique<running_program>(
          words{test::everseen_program(), "dedup", "--filter", "f", "--existing", "--store",
                "everseen+unix:" + server->path() + "?retry_for=100ms&timeout=2s", "--on-outage", "hold",
                (server->directory() / ("in" + std::to_string(i))).string(), "-"},
          more));
    for (const auto& run : runs)
      test::wait_until([&] { return !run->out().empty() || run->has_ended(); }, "a client judges");
  }

  /// Every client gets the same lines after those of its file, so each has something to judge now.
  void write_more_to_all() {
    std::string text;  // fits into a pipe
    for (int k = 0; k < 1000; ++k) {
      every_line.insert("later key " + std::to_string(k));
      text += "later key " + std::to_string(k) + '\n';
    }
    for (const auto& run : runs) run->write(text);
  }

  void expect_each_line_once() {
    for (const auto& run : runs) run->close_input();
    words printed;
    for (const auto& run : runs) {
      const test::program_result result = run->wait();
      EXPECT_EQ(result.exit_code, 0) << result.err;
      for (std::string& line : lines_of(result.out)) printed.push_back(std::move(line));
    }
    EXPECT_EQ(printed.size(), every_line.size());
    EXPECT_TRUE(std::set<std::string>(printed.begin(), printed.end()) == every_line);
  }

  redis_server redis{
      words{"--appendonly", "yes", "--appendfsync", "always", "--loadmodule", test::redis_module()}};
  std::unique_ptr<test::serving> server{};
  std::vector<std::unique_ptr<running_program>> runs{};
  std::set<std::string> every_line{};
};

// Promise: under hold no line is lost or doubled though the Redis server behind `everseen serve` is killed
// (dedup, Outages).
TEST_P(OutageBehindTheServer, HeldRunsLoseAndRepeatNoLine) {
  start("");
  start_clients(400'000);
  // Once: after a second kill, Redis may run half of a block of its AOF that the first has torn.
  redis.kill();
  std::this_thread::sleep_for(50ms);
  redis.start();
  expect_each_line_once();
}

TEST_P(OutageBehindTheServer, LastsLongerThanAnyoneRetriesAndTakesAllThreads) {
  start("?retry_for=100ms&timeout=1s", {"--store-threads", "2"});
  start_clients(200'000);
  redis.kill();
  write_more_to_all();
  const auto holds = [](const auto& run) {
    return run->err().find("BUSY nothing was run") != std::string::npos;
  };
  test::wait_until([&] { return std::ranges::any_of(runs, holds); }, "a client holds");
  std::this_thread::sleep_for(2500ms);  // longer than timeout=
  redis.start();
  expect_each_line_once();
}

TEST_P(OutageBehindTheServer, SilentServerIsWaitedForToo) {
  start("?retry_for=100ms&timeout=500ms", {"--store-threads", "2"});
  start_clients(200'000);
  redis.pause();
  std::this_thread::sleep_for(4s);
  redis.resume();
  expect_each_line_once();
}

INSTANTIATE_TEST_SUITE_P(OfBothJudges, OutageBehindTheServer, testing::Values("server", "client"),
                         [](const auto& one) { return one.param; });

/// What changes nothing is asked again for as long as the client waits.
TEST(OutageBehindAServer, ChecksThatStoreDoesNotAnswerAreAskedAgain) {
  redis_server redis;
  test::serving server(redis.unix_url("?retry_for=100ms"));
  const std::string url = "everseen+unix:" + server.path();
  const auto created = test::run_program({test::everseen_program(), "dedup", "--filter", "f", "--store", url},
                                         {.input = "a\n"});
  ASSERT_EQ(created.exit_code, 0) << created.err;
  const auto check = [&](const std::string& options) {
    return words{test::everseen_program(), "check", "f", "a", "--store", url + options};
  };
  redis.run({"SAVE"});
  redis.kill();
  const auto given_up = test::run_program(check("?retry_for=300ms"));
  EXPECT_EQ(given_up.exit_code, 3);
  EXPECT_THAT(given_up.err, HasSubstr("the store is unavailable"));
  running_program patient(check("?retry_for=30s"));
  std::this_thread::sleep_for(500ms);
  redis.start();
  const auto result = patient.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace everseen::client
