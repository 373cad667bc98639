// Redis streams as source and sink, against real servers.

#include <atomic>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/redis/redis_stream_group.hpp"
#include "everseen/jobs/redis/redis_stream_sink.hpp"
#include "everseen/jobs/redis/redis_stream_source.hpp"

#include "test/jobs/kafka/kafka_reading.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A server, and readers of its stream `clicks`.
struct RedisStream : ::testing::Test {
  redis_server server{};
  int added = 0;

  void add(int count, int from = 1) {
    for (int i = from; i < from + count; ++i)
      server.run({"XADD", "clicks", std::to_string(i) + "-0", "id", std::to_string(i), "site", "a"});
  }
  /// @param claim_after  longer where a live worker must not be taken for dead: on a busy machine it may be
  /// silent for 300 ms
  std::unique_ptr<redis_stream_source> reading(const std::string& rest,
                                               const std::string& claim_after = "300ms", bool begins = true) {
    auto made = std::make_unique<redis_stream_source>(
        parse_redis_stream_url("redis-stream:clicks?group=g&claim_after=" + claim_after +
                               "&consumer=" + rest),
        redis::parse_redis_url(server.url()));
    if (begins) made->begin(nothing_reached);
    return made;
  }
  [[nodiscard]] std::string pending() const {
    const std::string told = server.run({"XPENDING", "clicks", "g"});
    return told.substr(0, told.find('\n'));
  }
  /// Of the next reading, which fails; empty if it does not.
  static std::string fault_of(source& from) {
    source_batch batch;
    try {
      static_cast<void>(from.next(batch, 100ms));
      return {};
    } catch (const backend_error& e) {
      return e.what();
    }
  }
  static void settle(source& from, const record_copy& last) {
    const checkpoint reached{last.lane, last.position + 1};
    from.settled(std::span(&reached, 1));
  }
};

TEST_F(RedisStream, EntriesAreJsonObjectsOfTheirFieldsInOrder) {
  add(3);
  server.run({"XADD", "clicks", "9-9", "odd\"name", "tab\tand\\"});
  const auto taken = take(*reading("w"), 4);
  ASSERT_EQ(taken.size(), 4U);
  EXPECT_EQ(taken[0].bytes, R"({"id":"1","site":"a"})");
  EXPECT_EQ(taken[3].bytes, R"({"odd\"name":"tab\u0009and\\"})");
  EXPECT_EQ(taken[3].position, *redis_stream::position_of("9-9"));
  EXPECT_EQ(taken[3].lane, "clicks/g/w");
}

TEST_F(RedisStream, NamedFieldIsTheRecord) {
  add(1);
  server.run({"XADD", "clicks", "2-0", "other", "x"});
  const auto taken = take(*reading("w&field=id"), 2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].bytes, "1");
  EXPECT_EQ(taken[1].bytes, "");
}

TEST_F(RedisStream, EntriesArePendingUntilTheyAreSettled) {
  add(100);
  const auto from = reading("w");
  const auto taken = take(*from, 100);
  EXPECT_EQ(pending(), "100");
  settle(*from, taken[39]);
  EXPECT_EQ(pending(), "60");
  settle(*from, taken[99]);
  EXPECT_EQ(pending(), "0");
}

TEST_F(RedisStream, ReturningWorkerStartsWithItsPendingEntries) {
  add(100);
  {
    const auto first = reading("w");
    settle(*first, take(*first, 100)[39]);
  }
  add(10, 101);
  const auto taken = take(*reading("w"), 70);
  ASSERT_EQ(taken.size(), 70U);
  EXPECT_EQ(first_position(taken), *redis_stream::position_of("41-0"));
  EXPECT_EQ(taken.back().position, *redis_stream::position_of("110-0"));
}

TEST_F(RedisStream, WorkersShareTheEntries) {
  add(3'000);
  const auto one = reading("one", "30s"), two = reading("two", "30s");
  std::set<std::uint64_t> all;
  for (int i = 0; i < 3; ++i) {
    source_batch batch;
    if ((i % 2 == 0 ? one : two)->next(batch, 1s) != source::state::records) continue;
    for (const auto& each : batch.records) EXPECT_TRUE(all.insert(each.position).second);
  }
  EXPECT_EQ(all.size(), 3'000U);
}

// Promise: the pending entries of a dead worker are read in its lane (streams, Redis streams).
TEST_F(RedisStream, EntriesOfACrashedWorkerAreReadInItsLane) {
  add(10);
  EXPECT_EQ(take(*reading("dead"), 10).size(), 10U);
  const auto heir = reading("heir");
  const auto taken = take(*heir, 10);
  ASSERT_EQ(taken.size(), 10U);
  EXPECT_EQ(taken.front().lane, "clicks/g/dead");
  const auto has_it = [&] {
    return heir->ownership_of("clicks/g/dead", taken.front().generation) == source::ownership::ours;
  };
  EXPECT_TRUE(has_it());
  settle(*heir, taken.back());
  EXPECT_EQ(pending(), "0");
  source_batch batch;
  wait_until([&] { return heir->next(batch, 10ms) == source::state::nothing_yet && !has_it(); },
             "the lane of the dead is left");
}

TEST_F(RedisStream, EntriesOfALiveWorkerAreItsOwn) {
  add(10);
  const auto alive = reading("alive", "3s");
  take(*alive, 10);
  const auto other = reading("other", "3s");
  source_batch batch;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(alive->next(batch, 20ms), source::state::nothing_yet);
    EXPECT_EQ(other->next(batch, 20ms), source::state::nothing_yet);
  }
}

TEST_F(RedisStream, TwoWorkersOfOneNameAreAnError) {
  add(10);
  const auto first = reading("w", "2s");
  std::atomic<bool> ends = false;
  std::thread alive([&] {
    source_batch batch;
    while (!ends) static_cast<void>(first->next(batch, 20ms));
  });
  try {
    reading("w", "2s");
    ADD_FAILURE();
  } catch (const backend_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("reads clicks as w"), HasSubstr("consumer=")));
  }
  ends = true;
  alive.join();
}

// Promise: a slow worker gets its lane back (streams, Redis streams).
TEST_F(RedisStream, WorkerThatWasSilentForTooLongGetsItsLaneBack) {
  add(10);
  const auto slow = reading("slow", "3s");
  const auto before = take(*slow, 10);
  const auto heir = reading("heir", "3s");
  const auto inherited = take(*heir, 10);
  ASSERT_EQ(inherited.size(), 10U);
  source_batch batch;
  EXPECT_EQ(slow->next(batch, 50ms), source::state::nothing_yet);
  EXPECT_EQ(slow->ownership_of(before[0].lane, before[0].generation), source::ownership::gone);
  settle(*heir, inherited.back());
  EXPECT_EQ(heir->next(batch, 50ms), source::state::nothing_yet);
  add(5, 11);
  wait_until(
      [&] {
        for (source* each : {static_cast<source*>(slow.get()), static_cast<source*>(heir.get())})
          if (each->next(batch, 10ms) == source::state::records && batch.lane == before[0].lane) return true;
        add(1, ++added + 1'000);
        return false;
      },
      "the slow one reads again");
  EXPECT_TRUE(batch.begins);
  EXPECT_GT(batch.generation, before[0].generation);
  EXPECT_EQ(slow->ownership_of(batch.lane, batch.generation), source::ownership::ours);
}

TEST_F(RedisStream, WorkerThatWaitsForRoomKeepsItsLane) {
  add(10);
  const auto waiting = reading("waiting", "3s");
  take(*waiting, 10);
  const auto other = reading("other", "3s");
  source_batch batch;
  for (int i = 0; i < 40; ++i) {
    std::this_thread::sleep_for(100ms);
    waiting->keep_alive();
    EXPECT_EQ(other->next(batch, 0ms), source::state::nothing_yet);
  }
}

TEST_F(RedisStream, ConsumerOfAMomentAgoHasNoHeir) {
  add(10);
  const auto ours = reading("ours", "30s");
  server.run({"XREADGROUP", "GROUP", "g", "stranger", "COUNT", "5", "STREAMS", "clicks", ">"});
  source_batch batch;
  EXPECT_EQ(take(*ours, 5).size(), 5U);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ours->next(batch, 100ms), source::state::nothing_yet);
}

TEST_F(RedisStream, ConsumersOfOneWorkerAlternate) {
  add(2'500);
  take(*reading("z-dead"), 1'000);
  std::this_thread::sleep_for(400ms);
  const auto heir = reading("a-heir");
  std::set<std::string> lanes;
  wait_until(
      [&] {
        add(1'000, 3'000 + 1'000 * ++added);  // the heir's own never runs dry
        source_batch batch;
        if (heir->next(batch, 50ms) == source::state::records) lanes.insert(batch.lane);
        return lanes.size() == 2;
      },
      "both are read");
}

// Promise: entries that were trimmed before they were read end the job, unless gap=skip (streams, Redis
// streams).
TEST_F(RedisStream, TrimmedUnreadEntriesAreAnErrorUnlessGapsMayBeSkipped) {
  add(100);
  {
    const auto first = reading("w");
    const auto taken = take(*first, 100);
    settle(*first, taken.back());
  }
  add(100, 101);
  server.run({"XTRIM", "clicks", "MAXLEN", "30"});
  EXPECT_THAT(fault_of(*reading("w")), AllOf(HasSubstr("70 entries"), HasSubstr("gap=skip")));
  EXPECT_EQ(take(*reading("w&gap=skip"), 30).size(), 30U);
}

TEST_F(RedisStream, AllUnreadEntriesTrimmedAreAnError) {
  add(100);
  {
    const auto first = reading("w");
    settle(*first, take(*first, 100).back());
  }
  add(20, 101);
  server.run({"XTRIM", "clicks", "MAXLEN", "0"});
  EXPECT_THAT(fault_of(*reading("w")), HasSubstr("20 entries"));
}

TEST_F(RedisStream, EntriesTrimmedBeforeTheFirstIsReadAreAnError) {
  for (const auto& [start, gone] : {std::pair{"earliest", "80 entries"}, {"latest", "70 entries"}}) {
    const auto made = [&] { return reading(std::string("w&start=") + start); };
    server.run({"DEL", "clicks"});
    add(10);
    made()->finish();
    add(100, 11);
    server.run({"XTRIM", "clicks", "MAXLEN", "30"});
    EXPECT_THAT(fault_of(*made()), HasSubstr(gone));
  }
}

TEST_F(RedisStream, EntriesTrimmedBeforeTheGroupWasMadeAreNoGap) {
  add(100);
  server.run({"XTRIM", "clicks", "MAXLEN", "30"});
  EXPECT_EQ(take(*reading("w"), 30).size(), 30U);
}

TEST_F(RedisStream, EndsWhenAllWasReadOnRequest) {
  add(10);
  const auto from = reading("w&until=end");
  EXPECT_EQ(take(*from, 1'000).size(), 10U);
}

TEST_F(RedisStream, RecreatedStreamIsAnErrorAndNotASilentJump) {
  add(10);
  const auto from = reading("w", "300ms", false);
  from->begin({{"clicks/g/w", {"clicks/g/w", *redis_stream::position_of("500-0")}}});
  source_batch batch;
  EXPECT_THROW(static_cast<void>(from->next(batch, 1s)), parameter_error);
}

TEST_F(RedisStream, UnknownStreamIsReportedWithAdvice) {
  try {
    reading("w");
    FAIL();
  } catch (const parameter_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("no stream clicks"), HasSubstr("XADD")));
  }
}

TEST_F(RedisStream, LostRepliesLoseNoEntries) {
  add(5'000);
  cutting_proxy proxy(server.port());
  redis_stream_source from(parse_redis_stream_url("redis-stream:clicks?group=g&consumer=w"),
                           redis::parse_redis_url(proxy.url()));
  from.begin(nothing_reached);
  std::vector<record_copy> taken;
  for (std::size_t cut = 1'000; taken.size() < 5'000; cut += 7'777) {
    proxy.cut_after(cutting_proxy::direction::to_client, cut);
    for (auto& each : take(from, 1)) taken.push_back(std::move(each));
  }
  ASSERT_EQ(taken.size(), 5'000U);
  for (std::size_t i = 0; i < taken.size(); ++i)
    ASSERT_EQ(taken[i].position, *redis_stream::position_of(std::to_string(i + 1) + "-0"));
}

/// Consecutive records of a lane, all fresh, from a position on.
struct fresh_batch {
  fresh_batch(std::uint64_t from, std::uint64_t count, std::string lane = "a") {
    batch.lane = std::move(lane);
    for (std::uint64_t i = from; i < from + count; ++i) texts.push_back("e" + std::to_string(i));
    for (std::uint64_t i = 0; i < count; ++i) batch.records.push_back({texts[i], from + i});
    verdicts.assign(count, verdict::fresh);
    before.assign(count, 0);
  }
  [[nodiscard]] judged_batch view() const { return {batch, verdicts, before}; }

  std::vector<std::string> texts{};
  source_batch batch{};
  std::vector<verdict> verdicts{};
  std::vector<std::uint8_t> before{};
};

redis_stream_sink sink_at(const std::string& url, std::string_view rest = "") {
  return {parse_redis_stream_url("redis-stream:fresh" + std::string(rest)), redis::parse_redis_url(url),
          [] { return "job"; }};
}

// Promise: the sink appends each record once, however often it is put (streams, Redis streams).
TEST_F(RedisStream, SinkAppendsEachRecordOnceHoweverOftenItIsPut) {
  auto sink = sink_at(server.url());
  sink.begin("");
  sink.put(fresh_batch(100, 2'500).view());
  sink.put(fresh_batch(100, 2'500).view());
  auto another = sink_at(server.url());
  another.begin("");
  another.put(fresh_batch(1'600, 1'500).view());
  EXPECT_EQ(server.run({"XLEN", "fresh"}), "3000");
  EXPECT_THAT(server.run({"XREVRANGE", "fresh", "+", "-", "COUNT", "1"}), HasSubstr("event\ne3099"));
}

TEST_F(RedisStream, SinkKeepsLanesApart) {
  auto sink = sink_at(server.url(), "?field=f");
  sink.put(fresh_batch(50, 10, "a").view());
  sink.put(fresh_batch(10, 10, "b").view());
  EXPECT_EQ(server.run({"XLEN", "fresh"}), "20");
}

TEST_F(RedisStream, SinkWritesOutputAndNothingElse) {
  auto sink = sink_at(server.url());
  fresh_batch batch(0, 4);
  batch.verdicts = {verdict::seen, verdict::fresh, verdict::late, verdict::unknown};
  sink.put(batch.view());
  EXPECT_EQ(server.run({"XLEN", "fresh"}), "2");
}

TEST_F(RedisStream, SinkTrimsOnRequest) {
  auto sink = sink_at(server.url(), "?maxlen=500");
  sink.put(fresh_batch(0, 5'000).view());
  EXPECT_LT(std::stoi(server.run({"XLEN", "fresh"})), 1'000);
}

TEST_F(RedisStream, SinkRefusesAKeyThatIsNotAStream) {
  server.run({"SET", "fresh", "x"});
  auto sink = sink_at(server.url());
  EXPECT_THROW(sink.begin(""), parameter_error);
}

TEST_F(RedisStream, SinkAppendsOnceWhenRepliesAreLost) {
  cutting_proxy proxy(server.port());
  auto sink = sink_at(proxy.url());
  for (std::uint64_t from = 0; from < 5'000; from += 100) {
    proxy.cut_after(
        from % 200 == 0 ? cutting_proxy::direction::to_client : cutting_proxy::direction::to_server,
        from / 100);
    sink.put(fresh_batch(from, 100).view());
  }
  EXPECT_EQ(server.run({"XLEN", "fresh"}), "5000");
}

TEST(RedisStreamCluster, SourceAndSinkFindTheirSlots) {
  redis_cluster cluster;
  const auto servers = redis::parse_redis_url(cluster.url());
  redis_stream_sink sink(parse_redis_stream_url("redis-stream:fresh"), servers, [] { return "job"; });
  sink.begin("");
  sink.put(fresh_batch(0, 1'000).view());
  redis_stream_source from(parse_redis_stream_url("redis-stream:fresh?group=g&consumer=w&field=event"),
                           servers);
  from.begin(nothing_reached);
  const auto taken = take(from, 1'000, true);
  ASSERT_EQ(taken.size(), 1'000U);
  EXPECT_EQ(taken.back().bytes, "e999");
}

TEST(RedisStreamCluster, IndependentServersAreRefused) {
  const auto many = redis::parse_redis_url("redis://a:1,b:2");
  EXPECT_THROW(redis_stream_sink(parse_redis_stream_url("redis-stream:s"), many, [] { return "job"; }),
               parameter_error);
  EXPECT_THROW(redis_stream_source(parse_redis_stream_url("redis-stream:s?group=g"), many), parameter_error);
}

}  // namespace
}  // namespace everseen::test
