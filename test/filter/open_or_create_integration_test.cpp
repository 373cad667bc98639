// Many processes that open or create one filter.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"

#include "test/support/child_process.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

constexpr int processes = 6;
constexpr int keys = 300;
constexpr int no_filter_got = -1;

/// The fresh keys of each process. All processes start together, open or create the filter, and add the same
/// keys.
std::vector<int> race(const std::string& url, const std::string& name, judge_kind judge) {
  std::vector<std::unique_ptr<test::child_process>> children;
  for (int i = 0; i < processes; ++i)
    children.push_back(std::make_unique<test::child_process>([&](const test::child_process::tell& tell) {
      try {
        filter f = open_or_create(url, name, {.capacity = 10'000, .error_rate = 1e-9, .judge = judge});
        int fresh = 0;
        for (int key = 0; key < keys; ++key) fresh += f.add(std::to_string(key)) == verdict::fresh ? 1 : 0;
        tell(fresh);
      } catch (const storage_error&) {
        tell(no_filter_got);
      }
    }));
  std::vector<int> fresh;
  for (const auto& child : children) fresh.push_back(child->next().value_or(-100));
  return fresh;
}

// Promise: processes that open or create a filter of one name share one filter (guarantees, Batches and
// threads).
TEST(OpenOrCreate, ProcessesThatRaceOnServersShareOneFilter) {
  test::redis_server server(test::with_module());
  for (int round = 0; round < 5; ++round)
    for (const judge_kind judge : {judge_kind::server, judge_kind::client}) {
      const std::string name = std::string(to_string(judge)) + std::to_string(round);
      int fresh = 0;
      for (const int of_one : race(server.url("/"), name, judge)) {
        EXPECT_GE(of_one, 0);
        fresh += of_one;
      }
      EXPECT_EQ(fresh, keys);
    }
}

TEST(OpenOrCreate, OfProcessesThatRaceForFilesOneWritesAndTheOthersGetAnError) {
  const test::scratch_directory scratch;
  const std::string url = "file:" + scratch.path().string();
  for (int round = 0; round < 5; ++round) {
    int fresh = 0;
    for (const int of_one : race(url, "f" + std::to_string(round), judge_kind::server)) {
      EXPECT_TRUE(of_one >= no_filter_got) << of_one;
      if (of_one > 0) fresh += of_one;
    }
    EXPECT_EQ(fresh, keys);
  }
}

}  // namespace
}  // namespace everseen
