#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "test/cli/shell.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  return lines;
}

/// Lines of which most occur twice, once in each half of the text.
std::string two_halves(int lines) {
  std::string text;
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < lines / 2; ++i) text += "key " + std::to_string(i * 7919 % (lines / 2)) + "\n";
  return text;
}

/// Several `everseen dedup` over one filter on real servers.
class SharedRun : public Shell {
 protected:
  static redis_server::options lasting() {
    return {.config = {"--appendonly", "yes", "--appendfsync", "always"}};
  }

  std::vector<std::string> command(const std::string& url, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {test::everseen_program(), "dedup", "--store", url, "--filter", "clicks",
                                      "--error-rate",           "1e-9"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  program_setup piped() const {
    program_setup with_pipe = setup();
    with_pipe.piped_input = true;
    return with_pipe;
  }

  /// Runs on both halves concurrently. Returns their concatenated output.
  std::vector<std::string> run_both(const std::string& url, const std::string& text) const {
    const std::string first = text.substr(0, text.size() / 2);
    running_program a(command(url), setup(first));
    running_program b(command(url), setup(text.substr(text.size() / 2)));
    const program_result of_a = a.wait();
    const program_result of_b = b.wait();
    EXPECT_EQ(of_a.exit_code, 0) << of_a.err;
    EXPECT_EQ(of_b.exit_code, 0) << of_b.err;
    return lines_of(of_a.out + of_b.out);
  }
};

std::vector<std::string> each_once(const std::string& text) {
  const auto lines = lines_of(text);
  const std::set<std::string> once(lines.begin(), lines.end());
  return {once.begin(), once.end()};
}

// Promise: processes that share a filter print each key once (dedup, Several processes, one filter).
TEST_F(SharedRun, PrintsEachKeyOnce) {
  const redis_server server;
  const std::string text = two_halves(100'000);
  EXPECT_EQ(sorted(run_both(server.url(), text)), each_once(text));
}

// Promise: processes that share a filter print each key once (dedup, Several processes, one filter).
TEST_F(SharedRun, PrintsEachKeyOnceOnThreeInstances) {
  const redis_server a;
  const redis_server b;
  const redis_server c;
  const std::string text = two_halves(50'000);
  EXPECT_EQ(sorted(run_both("redis://" + a.address() + "," + b.address() + "," + c.address(), text)),
            each_once(text));
}

// Promise: processes that share a filter print each key once (dedup, Several processes, one filter).
TEST_F(SharedRun, PrintsEachKeyOnceOnACluster) {
  redis_cluster cluster;
  const std::string text = two_halves(50'000);
  EXPECT_EQ(sorted(run_both(cluster.url(), text)), each_once(text));
}

TEST_F(SharedRun, HoldsLinesDuringAnOutageAndContinuesUndisturbed) {
  redis_server server(lasting());
  running_program dedup(command(server.url("?retry_for=100ms"), {"--on-outage", "hold", "--stats"}), piped());
  dedup.write("a\nb\n");
  ASSERT_TRUE(dedup.waits_to_say("b\n"));
  server.stop();
  dedup.write("b\nc\n");
  wait_until([&] { return dedup.err().find("held until it is back") != std::string::npos; },
             "the run is held");
  dedup.write("a\nd\n");
  EXPECT_EQ(dedup.out(), "a\nb\n");
  server.start();
  dedup.close_input();
  const program_result result = dedup.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "a\nb\nc\nd\n");
  EXPECT_THAT(result.err, AllOf(HasSubstr("redis at " + server.address()),
                                HasSubstr("the store is back after"), HasSubstr("\"unknown\": 0")));
}

// A paused server reads earlier requests when it continues, although nobody waits for the reply any more.
// Promise: held lines get the answer of their first attempt (dedup, Outages).
TEST_F(SharedRun, GivesHeldLinesTheAnswerOfTheirFirstAttempt) {
  redis_server server;
  running_program dedup(
      command(server.url("?timeout=200ms&connect_timeout=200ms&retry_for=100ms"), {"--on-outage", "hold"}),
      piped());
  dedup.write("a\nb\n");
  ASSERT_TRUE(dedup.waits_to_say("b\n"));
  server.pause();
  dedup.write("b\nc\nd\nc\n");
  wait_until([&] { return dedup.err().find("held until it is back") != std::string::npos; },
             "the run is held");
  server.resume();
  dedup.close_input();
  const program_result result = dedup.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "a\nb\nc\nd\n");
}

// Promise: under hold no line is lost or doubled, however often the server is killed (dedup, Outages).
TEST_F(SharedRun, LosesAndRepeatsNoLineWhenTheServerIsKilledRepeatedly) {
  redis_server server(lasting());
  const std::string text = two_halves(400'000);
  std::ofstream(directory() / "in.txt") << text;
  running_program dedup(command(server.url("?retry_for=100ms"), {"--on-outage", "hold", "in.txt"}), setup());
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    server.kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    server.start();
  }
  const program_result result = dedup.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted(lines_of(result.out)), each_once(text));
  EXPECT_TRUE(text.starts_with(result.out)) << "in the order of the input";
}

// Promise: a signal ends the wait (dedup, Outages).
TEST_F(SharedRun, SignalEndsAHeldRunImmediately) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer holds signals back from a thread that waits for a mutex";
#endif
  redis_server server;
  running_program dedup(command(server.url(), {"--on-outage", "hold"}), piped());
  dedup.write("a\n");
  ASSERT_TRUE(dedup.waits_to_say("a\n"));
  server.stop();
  dedup.write("b\n");
  wait_until([&] { return dedup.err().find("held until it is back") != std::string::npos; },
             "the run is held");
  dedup.send(SIGTERM);
  const program_result result = dedup.wait(std::chrono::seconds(10));
  EXPECT_EQ(result.exit_code, 128 + SIGTERM) << result.err;
  EXPECT_EQ(result.out, "a\n");
  EXPECT_THAT(result.err, HasSubstr("may remember some of the lines without an answer"));
}

/// A server, and a replica that has its first copy and is in sync.
class SharedRunOnReplicas : public SharedRun {
 protected:
  SharedRunOnReplicas() {
    server_.run({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    replica_.run({"REPLICAOF", "127.0.0.1", std::to_string(server_.port())});
    wait_until(
        [&] {
          return server_.run({"INFO", "replication"}).find("state=online") != std::string::npos;
        },
        "the replica has the first copy");
    server_.run({"SET", "beat", "1"});
    wait_until([&] { return replica_.run({"GET", "beat"}) == "1"; }, "the replica is in step");
  }

  redis_server server_;
  redis_server replica_;
};

// Promise: under hold missing replicas are waited for, and no line is lost or doubled (dedup, Outages).
TEST_F(SharedRunOnReplicas, HoldsLinesWhileTheirReplicaIsUnavailable) {
  const std::string url = server_.url("?wait=1&timeout=400ms&retry_for=100ms");
  running_program dedup(command(url, {"--on-outage", "hold", "--stats"}), piped());
  dedup.write("a\nb\n");
  ASSERT_TRUE(dedup.waits_to_say("b\n"));
  for (const std::string line : {"c", "d"}) {
    const std::size_t reported = dedup.err().size();
    replica_.pause();
    dedup.write("b\n" + line + "\n");
    wait_until(
        [&] {
          return dedup.err().find("held until it is back: only 0 of the 1", reported) != std::string::npos;
        },
        "the run is held");
    EXPECT_EQ(dedup.out().find(line + "\n"), std::string::npos) << "not acknowledged";
    replica_.resume();
    ASSERT_TRUE(dedup.waits_to_say(line + "\n"));
  }
  dedup.close_input();
  const auto run = dedup.wait();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "a\nb\nc\nd\n");
  EXPECT_THAT(run.err, HasSubstr("\"unknown\": 0"));
}

TEST_F(SharedRunOnReplicas, StreamCountsEachEventOnceAlthoughTheReplicaWasUnavailable) {
  const std::string url = server_.url("?wait=1&timeout=400ms&retry_for=100ms");
  replica_.pause();
  running_program stream({test::everseen_program(), "stream", "--from", "-", "--store", url, "--filter",
                          "events", "--count", "", "--on-outage", "hold"},
                         setup(two_halves(20'000)));
  wait_until([&] { return stream.err().find("held until it is back: only 0") != std::string::npos; },
             "the run is held");
  replica_.resume();
  const auto run = stream.wait();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("10,000 fresh, 10,000 seen"), Not(HasSubstr("judged before"))));
}

TEST_F(SharedRunOnReplicas, PassingNeverTreatsAnotherAnswerAsThatOfTheReplica) {
  const std::string url = server_.url("?wait=1&timeout=3s&retry_for=100ms");
  running_program dedup(command(url, {"--on-outage", "pass"}), piped());
  dedup.write("a\n");
  ASSERT_TRUE(dedup.waits_to_say("a\n"));
  replica_.pause();
  for (const std::string line : {"b\n", "c\n", "d\n"}) {
    dedup.write(line);
    ASSERT_TRUE(dedup.waits_to_say(line));
  }
  dedup.close_input();
  const auto run = dedup.wait();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "a\nb\nc\nd\n");
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("3 lines were printed without a verdict"), Not(HasSubstr("is back after"))));
  replica_.resume();
}

// Keys that were added and not acknowledged would be dropped by the next run.
// Promise: under hold missing replicas are waited for, and no line is lost or doubled (dedup, Outages).
TEST_F(SharedRunOnReplicas, LosesAndRepeatsNoLineWhileTheReplicaDisconnectsAndReturns) {
  const std::string text = two_halves(60'000);
  ASSERT_EQ(run_program(command(server_.url()), setup("the first line\n")).exit_code, 0)
      << "a filter is not made while the replica is away";
  running_program dedup(
      command(server_.url("?wait=1&timeout=400ms&retry_for=100ms"), {"--on-outage", "hold"}), setup(text));
  for (int i = 0; i < 3; ++i) {
    const std::size_t before = dedup.err().size();
    replica_.pause();
    const auto says = [&](const char* note) {
      return dedup.has_ended() || dedup.err().find(note, before) != std::string::npos;
    };
    wait_until([&] { return says("held until"); }, "the run is held");
    replica_.resume();
    wait_until([&] { return says("is back after"); }, "the run continues");
  }
  const auto run = dedup.wait();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sorted(lines_of(run.out)), each_once(text));
}

// Promise: pass never drops a line whose verdict is unknown, and counts it (dedup, Outages).
TEST_F(SharedRun, PassesLinesDuringAnOutageAndCountsThem) {
  redis_server::options options = lasting();
  std::ranges::copy(with_module(), std::back_inserter(options.config));
  redis_server server(options);
  running_program dedup(
      command(server.url("?retry_for=100ms"), {"--on-outage", "pass", "--stats", "--judge", "server"}),
      piped());
  dedup.write("a\nb\na\n");
  ASSERT_TRUE(dedup.waits_to_say("b\n"));
  server.stop();
  dedup.write("b\nc\n");
  ASSERT_TRUE(dedup.waits_to_say("a\nb\nb\nc\n"));
  server.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // longer than the rest after a failed attempt
  dedup.write("a\nc\nd\n");
  dedup.close_input();
  const program_result result = dedup.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "a\nb\nb\nc\nc\nd\n");
  EXPECT_THAT(result.err, HasSubstr("\"unknown\": 2"));
}

TEST_F(SharedRun, CountsPassedLinesThoughTheServerIsUnavailableAtTheEnd) {
  redis_server server(with_module());
  running_program dedup(
      command(server.url("?retry_for=100ms"), {"--on-outage", "pass", "--stats", "--judge", "server"}),
      piped());
  dedup.write("a\nb\na\n");
  ASSERT_TRUE(dedup.waits_to_say("b\n"));
  server.stop();
  dedup.write("b\nc\n");
  dedup.close_input();
  const program_result result = dedup.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "a\nb\nb\nc\n");
  EXPECT_THAT(result.err, HasSubstr("\"unknown\": 2"));
  EXPECT_THAT(result.err, HasSubstr("\"filter\": null"));
}

// Promise: pass waits once for a server that stays unavailable (dedup, Outages).
TEST_F(SharedRun, PassingWaitsOnlyOnceForAServerThatStaysUnavailable) {
  redis_server server;
  const std::string text = two_halves(200'000);
  std::ofstream(directory() / "in.txt") << text;
  given("everseen create clicks --error-rate 1e-9 --capacity 1M --partitions 8 --store " + server.url());
  running_program dedup(command(server.url("?retry_for=500ms"), {"--on-outage", "pass", "-", "in.txt"}),
                        piped());
  dedup.write("a\n");
  ASSERT_TRUE(dedup.waits_to_say("a\n"));
  server.stop();
  const auto begin = std::chrono::steady_clock::now();
  dedup.close_input();
  const program_result result = dedup.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out == "a\n" + text);
  EXPECT_THAT(result.err, HasSubstr("200000 lines were printed without a verdict"));
}

// Promise: where a server stays unavailable, the first line without an answer is named (dedup, Runs that end
// early).
TEST_F(SharedRun, EndsAtAnOutageByDefaultAndReportsWhere) {
  redis_server server(lasting());
  running_program dedup(command(server.url("?retry_for=100ms")), piped());
  dedup.write("a\nb\n");
  ASSERT_TRUE(dedup.waits_to_say("a\nb\n"));
  server.stop();
  dedup.write("c\nd\n");
  dedup.close_input();
  const program_result result = dedup.wait();
  EXPECT_EQ(result.out, "a\nb\n");
  EXPECT_THAT(result,
              Complains(3, "redis at " + server.address(),
                        "line 3 of standard input is the first of 2 without an answer", "may remember"));
}

}  // namespace
}  // namespace everseen::test
