// The crash matrix with other stores than one plain Redis: the module, a cluster, files.

#include <gtest/gtest.h>

#include "test/support/crash_matrix/crash_matrix.hpp"
#include "test/support/places.hpp"

namespace everseen::test {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> durable = {"--appendonly", "yes", "--appendfsync", "always"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Half of the runs have a window, whose events cover four times its width.
struct StoreMatrix : testing::Test {
  std::uint64_t seed = 20'000;

  matrix_outcome survives(redis_server& killed, const std::string& url, const matrix_sink& sink,
                          const std::vector<disaster>& disasters) {
    const bool in_window = ++seed % 2 == 0;
    matrix_stage on{test::dying_program(), killed, url};
    if (in_window) {
      on.clicks = {std::chrono::minutes(40), true};
      on.words = {"--window", "10m", "--slices", "10"};
    }
    const matrix_outcome outcome = run_matrix(on, from_file(), sink, disasters, seed);
    EXPECT_EQ(outcome.fault, "") << "seed " << seed << (in_window ? ", window" : "");
    return outcome;
  }

  /// A crash at each step, and two workers that do the work of one.
  void survives_kills(redis_server& killed, const std::string& url, const matrix_sink& sink) {
    matrix_outcome all;
    for (const std::string& point : fault_points()) {
      SCOPED_TRACE(point);
      all += survives(killed, url, sink, {{.die_at = point + ":1"}, {.die_at = point + ":3"}});
      all += survives(killed, url, sink, {{.die_at = point + ":2"}});
    }
    EXPECT_GE(all.deaths, static_cast<int>(common_fault_points().size()));
  }
  /// Killed at a step of the job, or while it works.
  void survives_kills_of_the_server(redis_server& killed, const std::string& url, const matrix_sink& sink) {
    matrix_outcome all;
    for (const int after_ms : {5, 10, 15, 20, 30, 40})
      all += survives(killed, url, sink, {{.kill_store_after = milliseconds(after_ms)}, {.die_at = "put:3"}});
    for (const std::string point : {"read:2", "claimed:1", "put:2", "settled:1"})
      all += survives(killed, url, sink, {killed_at(point)});
    EXPECT_GE(all.store_deaths, 4);
  }
};

TEST_F(StoreMatrix, IsExactInAPlainRedisWithAWindow) {
  redis_server server(durable);
  survives_kills(server, server.url(), to_counts());
  survives_kills(server, server.url(), to_file());
}

// Promise: the same holds with the module, in a cluster, on several servers, and in files (streams, Sources
// and sinks).
TEST_F(StoreMatrix, IsExactWithTheModule) {
  redis_server server(with(with_module(), durable));
  survives_kills(server, server.url(), to_counts());
  survives_kills(server, server.url(), to_file());
  survives_kills_of_the_server(server, server.url(), to_counts());
}

// Promise: the same holds with the module, in a cluster, on several servers, and in files (streams, Sources
// and sinks).
TEST_F(StoreMatrix, IsExactInACluster) {
  redis_cluster cluster(redis_cluster::replicas::none, with(with_module(), durable));
  survives_kills(cluster.node(0), cluster.url(), to_counts());
  survives_kills(cluster.node(0), cluster.url(), to_file());
  survives_kills_of_the_server(cluster.node(1), cluster.url(), to_counts());
}

// Promise: the same holds with the module, in a cluster, on several servers, and in files (streams, Sources
// and sinks).
TEST_F(StoreMatrix, IsExactOnSeveralServers) {
  const std::vector<std::string> judging = with(with_module(), durable);
  redis_server first(judging), second(judging), third(judging);
  const std::string url = first.url() + ',' + second.address() + ',' + third.address();
  survives_kills(second, url, to_counts());
  survives_kills(first, url, to_file());
  survives_kills_of_the_server(first, url, to_counts());
}

// Promise: the same holds with the module, in a cluster, on several servers, and in files (streams, Sources
// and sinks).
TEST_F(StoreMatrix, IsExactInFiles) {
  redis_server none;  // nothing kills it
  const scratch_directory directory;
  const std::string url = "file:" + (directory.path() / "store").string();
  survives_kills(none, url, to_file());
  survives_kills(none, url, to_standard_output());
  matrix_outcome all;
  for (const int after_ms : {3, 6, 9, 12, 15, 18, 21, 24})
    all += survives(none, url, to_file(), {{.kill_after = milliseconds(after_ms)}});
  EXPECT_GE(all.deaths, 1);
}

}  // namespace
}  // namespace everseen::test
