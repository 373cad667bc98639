// A Redis is killed twice while it writes its AOF: the effect of the half block, which it runs after the
// restart, on a stream as a sink.

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "everseen/jobs/redis/redis_stream_sink.hpp"

#include "test/support/torn_aof.hpp"

namespace everseen::test {
namespace {

using entries = std::map<std::string, int>;

/// Consecutive records of a lane, all fresh, from a position on.
struct records {
  records(const std::string& lane, std::uint64_t from, std::size_t count) : verdicts(count, verdict::fresh) {
    batch.lane = lane;
    for (std::uint64_t position = from; position < from + count; ++position)
      texts.push_back(lane + std::to_string(position));
    for (std::size_t i = 0; i < count; ++i) batch.records.push_back({texts[i], from + i});
    before.assign(count, 0);
  }
  [[nodiscard]] judged_batch view() const { return {batch, verdicts, before}; }

  std::vector<std::string> texts{};
  source_batch batch{};
  std::vector<verdict> verdicts;
  std::vector<std::uint8_t> before{};
};

struct TornAofOfAStream : ::testing::Test {
  redis_server server{with_aof()};

  void put(const std::string& lane, std::uint64_t from, std::size_t count) const {
    redis_stream_sink sink(parse_redis_stream_url("redis-stream:fresh"), redis::parse_redis_url(server.url()),
                           [] { return "job"; });
    sink.put(records(lane, from, count).view());
  }
  /// How often each record is in the stream.
  [[nodiscard]] entries found() const {
    std::istringstream told(server.run({"XRANGE", "fresh", "-", "+"}));
    entries all;
    for (std::string id, field, text; std::getline(told, id) && std::getline(told, field);)
      if (std::getline(told, text)) ++all[text];
    return all;
  }
  static entries once(std::initializer_list<std::pair<const char*, int>> lanes) {
    entries all;
    for (const auto& [lane, count] : lanes)
      for (int i = 0; i < count; ++i) all[lane + std::to_string(i)] = 1;
    return all;
  }
  /// The server is killed anywhere in the writes of `torn`; then `rest` follows.
  void at_each_cut(const std::function<void()>& torn, const std::function<void(torn_aof&)>& rest) {
    torn_aof file(server);
    const std::size_t from = file.bytes().size();
    torn();
    const std::string all = file.bytes();
    const auto cuts = torn_aof::cuts(all, from);
    ASSERT_GT(cuts.size(), 8U);
    for (const std::size_t cut : cuts) {
      SCOPED_TRACE("cut " + std::to_string(cut - from) + " bytes behind " + std::to_string(from));
      file.end_with(all, cut);
      rest(file);
      if (HasFailure()) return;
    }
  }
};

// Promise: after a torn AOF, records stand in a stream once (streams, Crashes of servers and machines).
TEST_F(TornAofOfAStream, RecordsRetriedBeforeTheSecondCrashAreInItOnce) {
  put("a", 0, 3);
  at_each_cut([&] { put("a", 3, 4); },
              [&](torn_aof& file) {
                put("a", 3, 2);
                put("a", 3, 4);
                EXPECT_EQ(found(), once({{"a", 7}}));
                file.crash();
                EXPECT_EQ(found(), once({{"a", 7}}));
                put("a", 3, 5);
                EXPECT_EQ(found(), once({{"a", 8}}));
              });
}

// Promise: after a torn AOF, records stand in a stream once (streams, Crashes of servers and machines).
TEST_F(TornAofOfAStream, RecordsOfOtherLanesMayFollowInBetween) {
  put("a", 0, 3);
  at_each_cut([&] { put("a", 3, 4); },
              [&](torn_aof& file) {
                put("b", 0, 3);
                put("a", 3, 4);
                put("b", 3, 1);
                file.crash();
                EXPECT_EQ(found(), once({{"a", 7}, {"b", 4}}));
              });
}

// Promise: after a torn AOF, records stand in a stream once (streams, Crashes of servers and machines).
TEST_F(TornAofOfAStream, RecordsRetriedOnlyAfterTheSecondCrashAreInItOnce) {
  put("a", 0, 3);
  at_each_cut([&] { put("a", 3, 4); },
              [&](torn_aof& file) {
                put("b", 0, 3);
                file.crash();
                put("a", 3, 4);
                EXPECT_EQ(found(), once({{"a", 7}, {"b", 3}}));
                file.crash();
                EXPECT_EQ(found(), once({{"a", 7}, {"b", 3}}));
              });
}

// Promise: after a torn AOF, records stand in a stream once (streams, Crashes of servers and machines).
TEST_F(TornAofOfAStream, RetryThatIsTornItselfPutsThemInItOnce) {
  torn_aof file(server);
  put("a", 0, 3);
  put("a", 3, 4);
  const std::string all = file.bytes();
  const auto cuts = torn_aof::cuts(all, 0);
  file.end_with(all, cuts.at(cuts.size() - 5));  // inside of the last record
  at_each_cut([&] { put("a", 3, 4); },
              [&](torn_aof& again) {
                put("a", 3, 4);
                again.crash();
                EXPECT_EQ(found(), once({{"a", 7}}));
              });
}

}  // namespace
}  // namespace everseen::test
