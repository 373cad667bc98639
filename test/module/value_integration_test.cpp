// Values with windows and partitions: packed commands, and what happens to a value as a whole.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/image.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/module/value_server.hpp"
#include "test/support/small_pages.hpp"

namespace everseen::redis_module {
namespace {

using namespace std::chrono_literals;
using test::random_digests;
using ::testing::StartsWith;

std::string as_text(const std::vector<verdict>& verdicts) {
  std::string text;
  for (const verdict v : verdicts) text += static_cast<char>('0' + static_cast<char>(v));
  return text;
}

/// A filter in memory that gets the same batches, of one partition.
class model {
 public:
  explicit model(const stored_partition& value)
      : spec_(value.get_spec()), filter_(store_.create("f", spec_)) {}

  std::string add(const packed_keys& keys) { return judge(keys, true); }
  std::string check(const packed_keys& keys) { return judge(keys, false); }
  [[nodiscard]] partition_state state(std::uint32_t number) const { return filter_->state(number); }

 private:
  std::string judge(const packed_keys& keys, bool adds) {
    std::vector<verdict> verdicts(keys.digests.size());
    std::vector<event_time> times;
    if (spec_.window && keys.slices.empty()) times.push_back(window::start_of(*spec_.window, keys.slice));
    if (spec_.window)
      for (const auto slice : keys.slices) times.push_back(window::start_of(*spec_.window, slice));
    const partition_batch batch{partition_of(keys.digests.front(), spec_.partitions), keys.digests, times,
                                verdicts};
    adds ? (void)filter_->add({&batch, 1}) : (void)filter_->check({&batch, 1});
    return as_text(verdicts);
  }

  spec spec_;
  memory_store store_;
  std::shared_ptr<stored_filter> filter_;
};

class Value : public testing::Test {
 protected:
  redis_server server_{test::with_module()};
  random_digests random_{21};
};

TEST_F(Value, OfAnyPartitionIsMadeByAHeaderAndJudgesLikeMemory) {
  for (const growth_kind growth : {growth_kind::grow, growth_kind::refuse, growth_kind::overfill}) {
    server_.run({"FLUSHALL"});
    stored_partition value(server_, "{f/2}",
                           {.capacity = 4'000, .error_rate = never_wrong, .growth = growth, .partitions = 4},
                           2);
    ASSERT_EQ(value.made(), "OK");
    model memory(value);
    for (int i = 0; i < 30; ++i) {
      packed_keys keys{value.take(random_, 100)};
      keys.digests.insert(keys.digests.end(), keys.digests.begin(), keys.digests.begin() + 10);
      ASSERT_EQ(value.add(keys), memory.add(keys));
      ASSERT_EQ(value.check(keys), memory.check(keys));
    }
    EXPECT_EQ(state_of(value.state()), memory.state(2));
    EXPECT_EQ(value.state().partition, 2U);
  }
}

TEST_F(Value, WithAWindowJudgesLikeMemoryInAnyOrderOfSlices) {
  for (const growth_kind growth : {growth_kind::grow, growth_kind::refuse, growth_kind::overfill}) {
    server_.run({"FLUSHALL"});
    stored_partition value(server_, "w",
                           {.capacity = 500,
                            .error_rate = never_wrong,
                            .growth = growth,
                            .window = window_spec{10min, 5},
                            .partitions = 1});
    ASSERT_EQ(value.made(), "OK");
    model memory(value);
    std::mt19937 dice(3);
    std::vector<digest> known;
    for (int i = 0; i < 120; ++i) {
      packed_keys keys{random_.take(1 + dice() % 300), 1'000 + i / 4};
      for (digest& each : keys.digests)
        if (dice() % 3 == 0 && !known.empty()) each = known[dice() % known.size()];
      known.insert(known.end(), keys.digests.begin(), keys.digests.end());
      if (dice() % 2 == 0)
        for (std::size_t k = 0; k < keys.digests.size(); ++k)
          keys.slices.push_back(keys.slice + (dice() % 40 == 0 ? dice() % 20 : dice() % 3));
      ASSERT_EQ(value.check(keys), memory.check(keys)) << i;
      ASSERT_EQ(value.add(keys), memory.add(keys)) << i;
      ASSERT_EQ(state_of(value.state()), memory.state(0)) << i;
    }
    EXPECT_EQ(server_.run({"PING"}), "PONG");
  }
}

TEST_F(Value, ReplyThatWasLostIsGivenAgainAndNothingChanges) {
  stored_partition value(server_, "f", {.capacity = 100, .error_rate = never_wrong});
  const packed_keys keys{random_.take(3'000)};
  const std::string fresh(3'000, '0');
  EXPECT_EQ(value.add(keys), fresh);
  const std::string before = content(server_);
  EXPECT_EQ(value.add_again(keys), fresh);
  EXPECT_EQ(content(server_), before);
  EXPECT_EQ(value.add(keys), std::string(3'000, '1'));
  EXPECT_THAT(value.run(value.adding(keys, 1)), StartsWith("-OLD"));
  EXPECT_LE(std::stoll(value.run({"PTTL", "f:t:me"})), 600'000);
  EXPECT_GT(std::stoll(value.run({"PTTL", "f:t:me"})), 500'000);
}

TEST_F(Value, SealedValueAcceptsNoKeysAndNamesItsSuccessor) {
  stored_partition value(server_, "f", {.capacity = 100, .error_rate = never_wrong});
  const packed_keys keys{random_.take(20)};
  ASSERT_EQ(value.add(keys), std::string(20, '0'));
  const std::string successor = "0123456789abcdef", other(16, 'x');
  const std::string error = "-SEALED 30313233343536373839616263646566";
  EXPECT_EQ(value.run({"EVERSEEN.SEAL", "f", successor}), "OK");
  EXPECT_EQ(value.run({"EVERSEEN.SEAL", "f", successor}), "OK");
  EXPECT_EQ(value.run({"EVERSEEN.SEAL", "f", other}), error);
  const std::string before = content(server_);
  EXPECT_EQ(value.add_again(keys), std::string(20, '0')) << "a reply that was lost";
  EXPECT_EQ(value.add(keys), error);
  EXPECT_EQ(value.run({"BF.ADD", "f", "a"}), error);
  EXPECT_EQ(value.run({"EVERSEEN.CLEAR", "f", "12345678"}), error);
  EXPECT_EQ(value.check(keys), std::string(20, '1') + successor);
  EXPECT_EQ(content(server_), before);
  EXPECT_THAT(value.run({"EVERSEEN.STATE", "f"}), testing::HasSubstr(successor));
  value.run({"DEBUG", "RELOAD"});
  EXPECT_EQ(content(server_), before);
  EXPECT_EQ(value.add({random_.take(1)}), error);
}

TEST_F(Value, ClearedValueIsEmptyAndAnotherCopy) {
  stored_partition value(server_, "f", {.capacity = 100, .error_rate = never_wrong});
  const packed_keys keys{random_.take(1'000)};
  value.add(keys);
  const std::string header = value.run({"BF.SCANDUMP", "f", "0"}).substr(2);
  EXPECT_EQ(value.run({"EVERSEEN.LOADCHUNK", "f", "1", header}), "OK") << "the same copy";
  EXPECT_EQ(value.run({"EVERSEEN.CLEAR", "f", "12345678"}), "OK");
  EXPECT_EQ(value.check(keys), std::string(1'000, '0'));
  EXPECT_TRUE(value.state().segments.empty());
  EXPECT_EQ(value.add(keys), std::string(1'000, '0'));
  EXPECT_EQ(value.run({"EVERSEEN.CLEAR", "f", "12345678"}), "OK") << "repeated";
  EXPECT_EQ(value.check(keys), std::string(1'000, '1'));
  EXPECT_THAT(value.run({"EVERSEEN.LOADCHUNK", "f", "1", header}), StartsWith("-COPIED"));
  EXPECT_EQ(value.check(keys), std::string(1'000, '1'));
}

TEST_F(Value, ExtendMovesTheWindowAndKeepsWhatIsLive) {
  stored_partition value(server_, "w",
                         {.capacity = 100, .error_rate = never_wrong, .window = window_spec{10min, 5}});
  const packed_keys keys{random_.take(50), 100};
  ASSERT_EQ(value.add(keys), std::string(50, '0'));
  EXPECT_EQ(value.run({"EVERSEEN.EXTEND", "w", "105"}), "OK");
  EXPECT_EQ(value.check({keys.digests, 105}), std::string(50, '1'));
  EXPECT_EQ(value.run({"EVERSEEN.EXTEND", "w", "99"}), "OK") << "late: nothing";
  EXPECT_EQ(state_of(value.state()).slices.size(), 2U);
  EXPECT_EQ(value.run({"EVERSEEN.EXTEND", "w", "106"}), "OK");
  EXPECT_EQ(value.check({keys.digests, 106}), std::string(50, '0'));
  EXPECT_EQ(value.check({keys.digests, 100}), std::string(50, '2'));
}

/// All chunks of a value, of at most as many bits as READ gives.
std::vector<std::pair<std::string, std::string>> chunks_of(const stored_partition& value) {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::string iterator = "0";;) {
    const std::string reply = value.run({"BF.SCANDUMP", value.key(), iterator});
    iterator = reply.substr(0, reply.find('\n'));
    if (iterator == "0") return all;
    all.emplace_back(iterator, reply.substr(iterator.size() + 1));
  }
}

// Promise: EVERSEEN.MERGE adds all keys of a value with the same properties and seed, or refuses all (module,
// Packed commands).
TEST_F(Value, MergeAddsAllKeysOfAnotherValueOrRefusesAll) {
  const spec_request request{.capacity = 3000,
                             .error_rate = never_wrong,
                             .growth = growth_kind::refuse,
                             .window = window_spec{10min, 5},
                             .partitions = 3};
  stored_partition value(server_, "f", request, 1), sibling(server_, "g", request, 1);
  const packed_keys mine{value.take(random_, 150), 1000};
  const packed_keys theirs{value.take(random_, 150), 1001};
  ASSERT_EQ(value.add(mine), std::string(150, '0'));
  ASSERT_EQ(sibling.add(theirs), std::string(150, '0'));
  const std::vector<std::string> merge = {"EVERSEEN.MERGE", "f", "g"};
  EXPECT_EQ(value.run(merge), "OK");
  EXPECT_EQ(value.check(mine), std::string(150, '1'));
  EXPECT_EQ(value.check(theirs), std::string(150, '1'));
  EXPECT_EQ(sibling.check(mine), std::string(150, '0')) << "the source has changed";
  const std::string before = content(server_);
  EXPECT_EQ(value.run(merge), "OK");
  EXPECT_EQ(content(server_), before);
  ASSERT_EQ(value.add({value.take(random_, 100), 1001}), std::string(100, '0'));
  ASSERT_EQ(sibling.add({value.take(random_, 100), 1001}), std::string(100, '0'));
  const std::string all = content(server_);
  EXPECT_THAT(value.run(merge), StartsWith("-FULL together a layer would have "));
  EXPECT_EQ(content(server_), all);
  const stored_partition neighbour(server_, "h", request, 2), other(server_, "i", {.capacity = 1000}, 0);
  EXPECT_THAT(value.run({"EVERSEEN.MERGE", "f", "h"}), StartsWith("-CROSSPARTITION "));
  EXPECT_THAT(value.run({"EVERSEEN.MERGE", "i", "i"}), "OK");
  EXPECT_THAT(value.run({"EVERSEEN.MERGE", "i", "g"}), StartsWith("-CROSSPARTITION "));
  const stored_partition larger(server_, "j", {.capacity = 2000}, 0);
  EXPECT_THAT(value.run({"EVERSEEN.MERGE", "i", "j"}), testing::HasSubstr("differ in capacity"));
  EXPECT_THAT(value.run({"EVERSEEN.MERGE", "none", "f"}), StartsWith("-GONE "));
  EXPECT_EQ(value.run({"EVERSEEN.MERGE", "f", "none"}), "-ERR not found");
  ASSERT_EQ(value.run({"EVERSEEN.SEAL", "f", "0123456789abcdef"}), "OK");
  EXPECT_THAT(value.run(merge), StartsWith("-SEALED "));
}

TEST_F(Value, ChunksMakeAnEqualValueWhileKeysAreAddedToIt) {
  stored_partition value(server_, "w",
                         {.capacity = 100, .error_rate = never_wrong, .window = window_spec{10min, 5}});
  const packed_keys first{random_.take(500), 100}, second{random_.take(500), 102},
      third{random_.take(10), 106};
  value.add(first), value.add(second);
  const auto chunks = chunks_of(value);
  ASSERT_GT(chunks.size(), 5U);
  EXPECT_EQ(value.run({"EVERSEEN.LOADCHUNK", "c", "1", chunks[0].second}), "OK");
  stored_partition copy(server_, "c", {.capacity = 1});  // already there, of another copy
  EXPECT_THAT(copy.made(), StartsWith("-COPIED"));
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    EXPECT_EQ(value.run({"EVERSEEN.LOADCHUNK", "c", chunks[i].first, chunks[i].second}), "OK");
    if (i == 2) copy.add({third.digests, 103});
  }
  EXPECT_EQ(copy.check({first.digests, 103}), std::string(500, '1'));
  EXPECT_EQ(copy.check({second.digests, 103}), std::string(500, '1'));
  EXPECT_EQ(copy.check({third.digests, 103}), std::string(10, '1'));
  copy.add(third);  // whose slice ends that of the first keys
  for (std::size_t i = 1; i < chunks.size(); ++i)
    EXPECT_EQ(value.run({"EVERSEEN.LOADCHUNK", "c", chunks[i].first, chunks[i].second}), "OK");
  EXPECT_EQ(copy.check({first.digests, 106}), std::string(500, '0'));
  EXPECT_EQ(copy.check({second.digests, 106}), std::string(500, '1'));
}

TEST_F(Value, CopyOfAValueToWhichKeysWereAddedMeanwhileHasAsManyKeys) {
  stored_partition value(server_, "f", {.capacity = 1'000, .error_rate = never_wrong});
  value.add({random_.take(10)});
  const std::string header = value.run({"BF.SCANDUMP", "f", "0"}).substr(2);
  const packed_keys meanwhile{random_.take(900)};
  value.add(meanwhile);
  const auto chunks = chunks_of(value);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(value.run({"EVERSEEN.LOADCHUNK", "c", "1", header}), "OK");
  EXPECT_EQ(value.run({"BF.CARD", "c"}), "10");
  EXPECT_EQ(value.run({"EVERSEEN.LOADCHUNK", "c", chunks[1].first, chunks[1].second}), "OK");
  EXPECT_EQ(value.run({"BF.CARD", "c"}), "910") << "it would take more keys than its error rate allows";
  stored_partition copy(server_, "c", {.capacity = 1});
  EXPECT_EQ(copy.check(meanwhile), std::string(900, '1'));
}

TEST_F(Value, IsLoadedByBfLoadChunkOnlyIfItIsPlain) {
  stored_partition value(server_, "w",
                         {.capacity = 100, .error_rate = never_wrong, .window = window_spec{10min, 5}});
  value.add({random_.take(50), 100});
  const auto chunks = chunks_of(value);
  for (const auto& [iterator, bytes] : chunks)
    EXPECT_THAT(value.run({"BF.LOADCHUNK", iterator == "1" ? "c" : "w", iterator, bytes}),
                StartsWith("-ERR the filter has a window"));
}

TEST_F(Value, ReadGivesTheBitsOfASegment) {
  stored_partition value(server_, "f", {.capacity = 100, .error_rate = never_wrong});
  value.add({random_.take(300)});
  const auto chunks = chunks_of(value);
  const announced_filter state = value.state();
  for (std::size_t i = 0; i < state.segments.size(); ++i) {
    const std::uint64_t bytes = state.segments[i].layer.shape.bytes;
    const std::string layer = std::to_string(i);
    const std::string bits = chunks[1 + i].second.substr(0, bytes);
    EXPECT_EQ(value.run({"EVERSEEN.READ", "f", "0", layer, "0", "4194304"}), bits);
    EXPECT_EQ(value.run({"EVERSEEN.READ", "f", "0", layer, "5", "7"}), bits.substr(5, 7));
    EXPECT_EQ(value.run({"EVERSEEN.READ", "f", "0", layer, std::to_string(bytes), "7"}), "");
  }
  EXPECT_THAT(value.run({"EVERSEEN.READ", "f", "1", "0", "0", "1"}), StartsWith("-NOSEGMENT"));
  EXPECT_THAT(value.run({"EVERSEEN.READ", "f", "0", "9", "0", "1"}), StartsWith("-NOSEGMENT"));
}

std::int64_t page_faults_of(const redis_server& server) {
  std::ifstream stat("/proc/" + field_of(server, "server", "process_id") + "/stat");
  std::string word;
  for (int i = 0; i < 10; ++i) stat >> word;  // minflt, of a program whose name has no blank
  return std::stoll(word);
}

TEST_F(Value, HasOnePageFaultForEachPageThatItsKeysTouch) {
  if (!test::can_write_first()) GTEST_SKIP() << "in this build";
  stored_partition value(server_, "{f/0}",
                         {.capacity = 8'000'000, .error_rate = never_wrong, .partitions = 1});
  const packed_keys first{value.take(random_, 1)};
  ASSERT_EQ(value.add(first), "0");
  const auto pages = static_cast<std::int64_t>(value.state().segments.front().layer.shape.bytes / 4096);
  ASSERT_GT(pages, 10'000);
  const std::int64_t before = page_faults_of(server_);
  std::vector<packed_keys> batches;
  for (int i = 0; i < 4; ++i) {
    batches.push_back({value.take(random_, 10'000)});
    ASSERT_EQ(value.add(batches.back()), std::string(10'000, '0'));
  }
  const std::int64_t faults = page_faults_of(server_) - before;
  EXPECT_LT(faults, pages + pages / 4) << "some are for requests and replies";
  for (const packed_keys& each : batches) EXPECT_EQ(value.check(each), std::string(10'000, '1'));
}

// Promise: a packed call that names a filter is refused at the value of another one (module, Packed
// commands).
TEST_F(Value, OfAnotherFilterOrPartitionIsRefused) {
  const spec_request two = {.capacity = 10, .error_rate = never_wrong, .partitions = 2};
  const stored_partition value(server_, "f", two, 1);
  const std::string right = fingerprint_of(value.get_spec()) + "/1",
                    other_partition = fingerprint_of(value.get_spec()) + "/0";
  spec another = value.get_spec();
  another.capacity = 11;
  server_.run({"HSET", "f:ljob", "", "1"});
  const auto calls = [&](const std::string& fingerprint) {
    return std::vector<std::vector<std::string>>{
        {"EVERSEEN.CHECKPACKED", "f", "0", "", "", fingerprint},
        {"EVERSEEN.ADDPACKED", "f", "f:t:me", "0", "00000000000000000001", "1000", "", "", fingerprint},
        {"EVERSEEN.CLAIMPACKED", "f", "f:ljob", "lane", "", "0", "0", "", "", fingerprint, "", "0", ""}};
  };
  for (const std::string& wrong : {other_partition, fingerprint_of(another) + "/1", std::string("x")})
    for (const auto& words : calls(wrong)) EXPECT_THAT(value.run(words), StartsWith("-COPIED")) << words[0];
  for (const std::string& accepted : {right, std::string()})
    for (const auto& words : calls(accepted)) EXPECT_EQ(value.run(words), "") << words[0];
}

TEST_F(Value, AbsentValueIsGone) {
  const std::string id(16, 'x');
  const stored_partition none(server_, "other", {.capacity = 10});
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"EVERSEEN.CHECKPACKED", "f", "0", ""},
           {"EVERSEEN.ADDPACKED", "f", "f:t:me", "0", "00000000000000000001", "1000", ""},
           {"EVERSEEN.STATE", "f"},
           {"EVERSEEN.READ", "f", "0", "0", "0", "1"},
           {"EVERSEEN.SEAL", "f", id},
           {"EVERSEEN.CLEAR", "f", "12345678"},
           {"EVERSEEN.EXTEND", "f", "0"},
           {"EVERSEEN.LOADCHUNK", "f", "7", "bits"}})
    EXPECT_THAT(none.run(words), StartsWith("-GONE")) << words[0];
  server_.run({"SET", "s", "text"});
  EXPECT_THAT(none.run({"EVERSEEN.STATE", "s"}), StartsWith("-WRONGTYPE"));
  EXPECT_EQ(server_.run({"EXISTS", "f", "f:t:me"}), "0");
}

}  // namespace
}  // namespace everseen::redis_module
