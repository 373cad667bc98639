// BF.*: a filter that is the value of a key.

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/chunk_image.hpp"

#include "test/module/server_facts.hpp"
#include "test/support/binomial.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& reply) {
  std::vector<std::string> all;
  std::istringstream in(reply);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::string run(const redis_server& server, const std::vector<std::string>& words) {
  return test::raw_command(server.unix_path(), words);
}

/// Filters of a server, and what they must hold.
class modelled_filters {
 public:
  explicit modelled_filters(const redis_server& server, std::uint32_t seed = 1)
      : server_(server), dice_(seed) {}

  /// A random command, whose answer must not contradict the model.
  void step() {
    const std::string name = "f" + std::to_string(dice_() % 4);
    switch (dice_() % 8) {
      case 0:
        return check(name);
      case 1:
        return copy(name);
      case 2:
        return merge(name);
      default:
        return add(name);
    }
  }
  void check_all() {
    constexpr std::size_t at_a_time = 1'000;
    for (const auto& [name, keys] : keys_) {
      const std::vector<std::string> all(keys.begin(), keys.end());
      for (std::size_t from = 0; from < all.size(); from += at_a_time) {
        std::vector<std::string> words = {"BF.MEXISTS", name};
        for (std::size_t i = from; i < std::min(from + at_a_time, all.size()); ++i) words.push_back(all[i]);
        EXPECT_THAT(lines_of(run(server_, words)), ::testing::Each("1")) << name;
      }
    }
  }
  [[nodiscard]] std::uint64_t mistakes() const noexcept { return mistakes_; }
  [[nodiscard]] std::uint64_t new_keys() const noexcept { return new_keys_; }
  [[nodiscard]] std::uint64_t merges() const noexcept { return merges_; }

 private:
  std::vector<std::string> words(const std::string& command, const std::string& name) {
    std::vector<std::string> all = {command, name};
    const std::size_t count = 1 + dice_() % 40;
    for (std::size_t i = 0; i < count; ++i) all.push_back(std::to_string(dice_() % 20'000));
    return all;
  }
  void add(const std::string& name) {
    const auto asked = words("BF.MADD", name);
    const auto answers = lines_of(run(server_, asked));
    ASSERT_EQ(answers.size(), asked.size() - 2);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const bool is_new = keys_[name].insert(asked[i + 2]).second;
      EXPECT_TRUE(is_new || answers[i] == "0") << "fresh twice";
      new_keys_ += is_new ? 1 : 0;
      mistakes_ += is_new && answers[i] == "0" ? 1 : 0;
    }
  }
  void check(const std::string& name) {
    const auto asked = words("BF.MEXISTS", name);
    const auto answers = lines_of(run(server_, asked));
    ASSERT_EQ(answers.size(), asked.size() - 2);
    for (std::size_t i = 0; i < answers.size(); ++i)
      EXPECT_TRUE(!keys_[name].contains(asked[i + 2]) || answers[i] == "1") << "lost";
  }
  void copy(const std::string& name) {
    const std::string target = "f" + std::to_string(dice_() % 4);
    if (target == name || !keys_.contains(name)) return;
    EXPECT_EQ(run(server_, {"COPY", name, target, "REPLACE"}), "1");
    keys_[target] = keys_[name];
  }

  /// Refused where they are no siblings, or have too many keys for a layer.
  void merge(const std::string& name) {
    const std::string source = "f" + std::to_string(dice_() % 4);
    if (run(server_, {"BF.MERGE", name, source}) != "OK") return;
    ++merges_;
    const std::set<std::string> more = keys_[source];
    keys_[name].insert(more.begin(), more.end());
  }

  const redis_server& server_;
  std::uint64_t merges_ = 0;
  std::mt19937 dice_;
  std::map<std::string, std::set<std::string>> keys_;
  std::uint64_t mistakes_ = 0, new_keys_ = 0;
};

TEST(Bloom, NeverLosesAKeyAndKeepsItsRateThroughRandomCommandsCopiesAndReloads) {
  for (const auto& config : {test::with_module(), with_redisbloom_layout()}) {
    const redis_server server(config);
    modelled_filters filters(server);
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 1'000; ++i) filters.step();
      const std::string before = content(server);
      ASSERT_EQ(server.run({"DEBUG", "RELOAD"}), "OK");
      EXPECT_EQ(content(server), before);
    }
    filters.check_all();
    EXPECT_LE(filters.mistakes(), test::binomial_bound(filters.new_keys(), 0.01));
    EXPECT_GT(filters.merges(), 10U);
  }
}

TEST(Bloom, AofAndReplicaHaveTheSameValues) {
  for (const std::string preamble : {"yes", "no"}) {
    redis_server server(with_module_and(
        {"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble}));
    const redis_server replica(with_module_and({"--replicaof", "127.0.0.1", std::to_string(server.port())}));
    modelled_filters filters(server, 2);
    server.run({"BF.RESERVE", "empty", "0.001", "1000"});
    for (int i = 0; i < 500; ++i) filters.step();
    server.run({"BGREWRITEAOF"});
    for (int i = 0; i < 500; ++i) filters.step();
    const std::string before = content(server);
    test::wait_until([&] { return content(replica) == before; }, "the replica has everything");
    server.kill();
    server.start();
    EXPECT_EQ(content(server), before) << preamble;
    EXPECT_EQ(server.run({"BF.CARD", "empty"}), "0");
    filters.check_all();
  }
}

TEST(Bloom, KeysAreOrdinaryKeysOfRedis) {
  const redis_server server(test::with_module());
  server.run({"BF.MADD", "f", "a", "b"});
  EXPECT_EQ(server.run({"TYPE", "f"}), "everseen1");
  EXPECT_GT(std::stoi(server.run({"MEMORY", "USAGE", "f"})),
            std::stoi(lines_of(server.run({"BF.INFO", "f"}))[3]));
  EXPECT_EQ(server.run({"RENAME", "f", "g"}), "OK");
  EXPECT_EQ(server.run({"BF.EXISTS", "f", "a"}), "0");
  EXPECT_EQ(server.run({"BF.EXISTS", "g", "a"}), "1");
  const std::string image = server.run({"DUMP", "g"});
  EXPECT_EQ(run(server, {"RESTORE", "h", "0", image}), "OK");
  EXPECT_EQ(server.run({"DEBUG", "DIGEST-VALUE", "h"}), server.run({"DEBUG", "DIGEST-VALUE", "g"}));
  EXPECT_EQ(server.run({"PEXPIRE", "h", "1"}), "1");
  test::wait_until([&] { return server.run({"EXISTS", "h"}) == "0"; }, "it expires");
  EXPECT_EQ(server.run({"BF.ADD", "h", "a"}), "1") << "a new filter";
  EXPECT_EQ(server.run({"UNLINK", "g"}), "1");
  EXPECT_EQ(server.run({"BF.MEXISTS", "g", "a", "b"}), "0\n0");
  EXPECT_EQ(server.run({"EVAL", "return redis.call('BF.MADD', KEYS[1], 'x', 'x')", "1", "s"}), "1\n0");
  server.run({"SET", "text", "x"});
  EXPECT_THAT(server.run({"BF.ADD", "text", "x"}), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(server.run({"GET", "s"}), StartsWith("-WRONGTYPE"));
}

TEST(Bloom, KeyMovesToAnotherServer) {
  for (const auto& config : {test::with_module(), with_redisbloom_layout()}) {
    const redis_server from(config), to(config);
    from.run({"BF.RESERVE", "f", "0.0001", "100"});
    for (int i = 0; i < 50; ++i)
      from.run({"BF.MADD", "f", std::to_string(i), std::to_string(1'000 + i), std::to_string(2'000 + i)});
    const std::string digest = from.run({"DEBUG", "DIGEST-VALUE", "f"});
    EXPECT_EQ(run(from, {"MIGRATE", "127.0.0.1", std::to_string(to.port()), "f", "0", "5000"}), "OK");
    EXPECT_EQ(from.run({"EXISTS", "f"}), "0");
    EXPECT_EQ(to.run({"DEBUG", "DIGEST-VALUE", "f"}), digest);
    EXPECT_EQ(to.run({"BF.ADD", "f", "1049"}), "0");
  }
}

TEST(Bloom, DamagedImageIsRefusedAndTheServerLives) {
  for (const auto& config : {test::with_module(), with_redisbloom_layout()}) {
    const redis_server server(config);
    server.run({"BF.RESERVE", "f", "0.01", "20", "EXPANSION", "1"});
    for (int i = 0; i < 70; ++i) server.run({"BF.ADD", "f", std::to_string(i)});
    const std::string image = server.run({"DUMP", "f"});
    server.run({"DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1"});
    const auto must_be_whole_or_refused = [&](const std::string& damaged, std::size_t offset) {
      const std::string answer = run(server, {"RESTORE", "g", "0", damaged, "REPLACE"});
      if (answer == "OK") {
        EXPECT_THAT(server.run({"BF.INFO", "g"}), HasSubstr("Capacity")) << offset;
        EXPECT_THAT(server.run({"BF.ADD", "g", "x"}), AnyOf("0", "1")) << offset;
      } else {
        EXPECT_THAT(answer, StartsWith("-")) << offset;
      }
    };
    for (std::size_t position = 0; position < image.size(); ++position) {
      must_be_whole_or_refused(image.substr(0, position), position);
      for (const int bit : {0, 3, 7}) {
        std::string flipped = image;
        flipped[position] = static_cast<char>(flipped[position] ^ (1 << bit));
        must_be_whole_or_refused(flipped, position);
      }
    }
    EXPECT_EQ(server.run({"PING"}), "PONG");
  }
}

/// All chunks of a filter.
std::vector<std::array<std::string, 2>> dump(const redis_server& server, const std::string& name) {
  std::vector<std::array<std::string, 2>> chunks;
  for (std::string iterator = "0";;) {
    const std::string reply = run(server, {"BF.SCANDUMP", name, iterator});
    const std::size_t end = reply.find('\n');
    iterator = reply.substr(0, end);
    if (iterator == "0") return chunks;
    chunks.push_back({iterator, reply.substr(end + 1)});
  }
}

TEST(Bloom, ChunksMakeAnEqualFilter) {
  for (const auto& config : {test::with_module(), with_redisbloom_layout()}) {
    const redis_server server(config);
    for (int i = 0; i < 500; ++i) server.run({"BF.ADD", "f", std::to_string(i)});
    const auto chunks = dump(server, "f");
    ASSERT_GT(chunks.size(), 3U) << "a header, and bits of several layers";
    for (const auto& [iterator, bytes] : chunks)
      EXPECT_EQ(run(server, {"BF.LOADCHUNK", "g", iterator, bytes}), "OK");
    EXPECT_EQ(dump(server, "g"), chunks);
    EXPECT_EQ(run(server, {"BF.LOADCHUNK", "g", chunks[0][0], chunks[0][1]}), "-ERR item exists");
    EXPECT_THAT(run(server, {"BF.LOADCHUNK", "none", chunks[1][0], chunks[1][1]}), "-ERR not found");
    server.run({"BF.ADD", "g", "added since"});
    EXPECT_EQ(run(server, {"BF.LOADCHUNK", "g", chunks.back()[0], chunks.back()[1]}), "OK");
    EXPECT_EQ(server.run({"BF.EXISTS", "g", "added since"}), "1") << "bits are added, not replaced";
  }
}

TEST(Bloom, ItemIsExplainedInLayersOfManyProbes) {
  const redis_server server(with_redisbloom_layout());
  EXPECT_EQ(server.run({"BF.RESERVE", "f", "0.000000000000001", "1", "EXPANSION", "1"}), "OK");
  std::vector<std::string> add = {"BF.MADD", "f"};
  for (int i = 0; i < 36; ++i) add.push_back(std::to_string(i));
  run(server, add);
  const std::string reply = server.run({"EVERSEEN.EXPLAIN", "f", "35"});
  std::size_t layers = 0, bits = 0, bits_of_last = 0;
  std::istringstream lines(reply);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("bit "))
      ++bits, ++bits_of_last;
    else
      ++layers, bits_of_last = 0;
  EXPECT_GT(layers, 20U);
  EXPECT_GT(bits, 20U * 50);
  EXPECT_GT(bits_of_last, 64U) << "each layer has half the rate of the one before, so one probe more";
}

TEST(Bloom, DamagedChunkIsRefused) {
  const redis_server server(test::with_module());
  for (int i = 0; i < 500; ++i) server.run({"BF.ADD", "f", std::to_string(i)});
  const auto chunks = dump(server, "f");
  for (std::size_t offset = 0; offset < chunks[0][1].size(); ++offset) {
    std::string header = chunks[0][1];
    header[offset] = static_cast<char>(header[offset] ^ 1);
    EXPECT_THAT(run(server, {"BF.LOADCHUNK", "g", "1", header}), StartsWith("-ERR")) << offset;
    EXPECT_THAT(run(server, {"BF.LOADCHUNK", "g", "1", chunks[0][1].substr(0, offset)}), StartsWith("-ERR"))
        << offset;
  }
  EXPECT_EQ(server.run({"EXISTS", "g"}), "0");
}

// Its checksums are right, and its numbers are none that this filter could have.
TEST(Bloom, HeaderWithLayersOfImpossibleSizesIsRefused) {
  const redis_server server(test::with_module());
  server.run({"BF.RESERVE", "f", "0.01", "1000"});
  for (int i = 0; i < 1'500; ++i) server.run({"BF.ADD", "f", std::to_string(i)});
  const std::string bytes = dump(server, "f").front()[1];
  const announced_filter real = image::decode_chunk_header(std::as_bytes(std::span(bytes)));
  ASSERT_EQ(real.segments.size(), 2U);
  const auto load = [&](auto change) {
    announced_filter f = real;
    change(f);
    const std::vector<std::byte> header = image::encode_chunk_header(f);
    return run(server,
               {"BF.LOADCHUNK", "g", "1", {reinterpret_cast<const char*>(header.data()), header.size()}});
  };
  EXPECT_THAT(load([](auto& f) { f.segments[1].layer.shape.bytes *= 64; }), HasSubstr("a layer of a size"));
  EXPECT_THAT(load([](auto& f) { f.segments[1].layer.shape.bytes = 64; }), HasSubstr("a layer of a size"));
  EXPECT_THAT(load([](auto& f) { f.segments[0].layer.capacity = f.segments[0].layer.keys = 1; }),
              HasSubstr("a layer of a size"));
  EXPECT_THAT(load([](auto& f) { f.spec.growth = growth_kind::refuse; }), HasSubstr("must not grow"));
  EXPECT_THAT(load([](auto& f) { f.segments[1].layer.keys = f.segments[1].layer.capacity + 1; }),
              HasSubstr("more keys than a layer takes"));
  EXPECT_EQ(server.run({"EXISTS", "g"}), "0");
  EXPECT_EQ(load([](auto&) {}), "OK");
}

TEST(Bloom, FilterThatMustNotGrowRefusesFurtherKeys) {
  const redis_server server(test::with_module());
  EXPECT_EQ(server.run({"BF.RESERVE", "f", "0.000001", "3", "NONSCALING"}), "OK");
  EXPECT_EQ(server.run({"BF.MADD", "f", "a", "b", "c"}), "1\n1\n1");
  EXPECT_THAT(server.run({"BF.ADD", "f", "d"}), "-ERR non scaling filter is full");
  EXPECT_EQ(server.run({"BF.ADD", "f", "a"}), "0");
  EXPECT_EQ(server.run({"BF.CARD", "f"}), "3");
}

// Promise: a filter in Redis that needs more memory than maxmemory leaves is refused before it changes
// (module, In place of RedisBloom).
TEST(Bloom, CallThatWouldExceedMaxmemoryChangesNothing) {
  const redis_server server(test::with_module());
  server.run({"BF.RESERVE", "large", "0.001", "100000000"});
  server.run({"BF.RESERVE", "grown", "0.001", "1000000"});
  server.run({"BF.ADD", "grown", "a"});
  server.run({"BF.ADD", "small", "a"});
  const std::string before = content(server);
  server.run({"CONFIG", "SET", "maxmemory",
              std::to_string(std::stoll(field_of(server, "memory", "used_memory")) + 10'000'000)});
  EXPECT_THAT(server.run({"BF.ADD", "large", "a"}), StartsWith("-OOM the filter needs more memory"));
  EXPECT_THAT(run(server, {"BF.INSERT", "new", "CAPACITY", "100000000", "ITEMS", "a"}),
              StartsWith("-OOM the filter needs more memory"));
  EXPECT_EQ(content(server), before);
  EXPECT_EQ(server.run({"EXISTS", "new"}), "0");
  EXPECT_EQ(server.run({"BF.ADD", "small", "b"}), "1") << "others go on";
  EXPECT_EQ(server.run({"BF.ADD", "grown", "b"}), "1");
  server.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(server.run({"BF.ADD", "large", "a"}), "1");
}

TEST(Bloom, RepeatsInACallNeedNoRoom) {
  const redis_server server(test::with_module());
  server.run({"BF.RESERVE", "f", "0.000000001", "400000"});
  for (int from = 0; from < 399'900; from += 1'333) {
    std::vector<std::string> words = {"BF.MADD", "f"};
    for (int i = from; i < std::min(from + 1'333, 399'900); ++i) words.push_back(std::to_string(i));
    run(server, words);
  }
  server.run({"CONFIG", "SET", "maxmemory",
              std::to_string(std::stoll(field_of(server, "memory", "used_memory")) + 800'000)});
  std::vector<std::string> words = {"BF.MADD", "f"};
  words.insert(words.end(), 1'500, "the same");
  EXPECT_THAT(run(server, words), StartsWith("1\n0\n0"));
}

TEST(Bloom, FirstLayerOfRedisBloomsLayoutIsMadeWithinMaxmemory) {
  const redis_server server(with_redisbloom_layout());
  server.run({"CONFIG", "SET", "maxmemory", "100mb"});
  EXPECT_THAT(server.run({"BF.RESERVE", "large", "0.01", "1000000000"}), StartsWith("-OOM"));
  EXPECT_EQ(server.run({"BF.RESERVE", "small", "0.01", "1000"}), "OK");
  server.run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  EXPECT_THAT(server.run({"BF.RESERVE", "large", "0.01", "1000000000"}), StartsWith("-OOM"));
  EXPECT_EQ(server.run({"EXISTS", "small"}), "1") << "nothing was evicted for it";
}

TEST(Bloom, RefusesInTheWordsOfRedisBloom) {
  const redis_server server(test::with_module());
  server.run({"BF.RESERVE", "f", "0.01", "100"});
  const std::vector<std::pair<std::vector<std::string>, std::string>> all = {
      {{"BF.RESERVE", "f", "0.01", "100"}, "-ERR item exists"},
      {{"BF.RESERVE", "g", "x", "100"}, "-ERR bad error rate"},
      {{"BF.RESERVE", "g", "1", "100"}, "-ERR error rate must be in the range (0.000000, 1.000000)"},
      {{"BF.RESERVE", "g", "0.1", "x"}, "-ERR bad capacity"},
      {{"BF.RESERVE", "g", "0.1", "10", "NONSCALING", "EXPANSION", "2"}, "-Nonscaling filters cannot expand"},
      {{"BF.INSERT", "g", "NOCREATE", "ITEMS", "a"}, "-ERR not found"},
      {{"BF.INSERT", "g", "CAPACITY", "0", "ITEMS", "a"}, "-Bad capacity"},
      {{"BF.INFO", "g"}, "-ERR not found"},
      {{"BF.INFO", "f", "COLOUR"}, "-Invalid information value"},
      {{"BF.SCANDUMP", "g", "0"}, "-ERR not found"},
      {{"BF.SCANDUMP", "f", "x"}, "-Second argument must be numeric"},
      {{"BF.ADD", "f"}, "-ERR wrong number of arguments for 'BF.ADD' command"}};
  for (const auto& [words, answer] : all)
    EXPECT_THAT(run(server, words), ::testing::StrCaseEq(answer)) << words[0] << ' ' << words.back();
  EXPECT_EQ(server.run({"EXISTS", "g"}), "0");
}

TEST(Bloom, WordsOfTheConfigurationAreDefaults) {
  const redis_server server(with_module_and({"error_rate", "0.001", "Initial_Size", "5000"}));
  server.run({"BF.ADD", "f", "a"});
  EXPECT_EQ(lines_of(server.run({"BF.INFO", "f", "CAPACITY"})).back(), "5000");
  EXPECT_THAT(server.run({"BF.DEBUG", "f"}), HasSubstr("ratio:0.0005"));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"ERROR_RATE", "2"}, {"COLOUR", "blue"}, {"LAYOUT"}, {"MAX_SIZE", "1tb"}})
    EXPECT_THROW(redis_server(with_module_and(wrong)), std::runtime_error) << wrong[0];
}

TEST(Bloom, CallWithAnExpansionMakesAFilterThatGrowsWhereTheDefaultIsNone) {
  const redis_server server(with_module_and({"EXPANSION", "0"}));
  EXPECT_EQ(run(server, {"BF.INSERT", "f", "CAPACITY", "1", "EXPANSION", "2", "ITEMS", "a", "b", "c"}),
            "1\n1\n1");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"BF.INSERT", "g", "CAPACITY", "1", "ITEMS", "a", "b"},
        {"BF.INSERT", "h", "CAPACITY", "1", "NONSCALING", "EXPANSION", "2", "ITEMS", "a", "b"},
        {"BF.INSERT", "i", "CAPACITY", "1", "EXPANSION", "2", "NONSCALING", "ITEMS", "a", "b"}})
    EXPECT_THAT(run(server, words), HasSubstr("non scaling filter is full")) << words[1];
}

TEST(Bloom, NoFilterGrowsBeyondMaxSize) {
  for (const auto& config :
       {with_module_and({"max_size", "4kb"}), with_redisbloom_layout({"MAX_SIZE", "4kb"})}) {
    const redis_server server(config);
    const auto too_large = StartsWith("-ERR the filter would be larger");
    EXPECT_THAT(server.run({"BF.RESERVE", "f", "0.01", "100000"}), too_large);
    EXPECT_THAT(run(server, {"BF.INSERT", "f", "CAPACITY", "100000", "ITEMS", "a"}), too_large);
    EXPECT_EQ(server.run({"EXISTS", "f"}), "0");
    std::string message;
    int added = 0;
    for (; !message.starts_with('-') && added < 10'000; ++added)
      message = server.run({"BF.ADD", "f", std::to_string(added)});
    EXPECT_THAT(message, too_large);
    const std::string before = content(server);
    EXPECT_THAT(run(server, {"BF.MADD", "f", "0", "another", "a third", "a fourth", "a fifth"}), too_large)
        << "all of it";
    EXPECT_EQ(content(server), before);
    EXPECT_EQ(server.run({"BF.EXISTS", "f", "0"}), "1");
    EXPECT_LE(std::stoi(lines_of(server.run({"BF.INFO", "f", "SIZE"})).back()), 4'096 + 500);
    EXPECT_GE(added, 500) << "and it grew until then";
  }
}

TEST(Bloom, ReplicaTakesWhatItsMasterAllowed) {
  const redis_server master(with_module_and({"--repl-diskless-sync-delay", "0"}));
  const redis_server replica(
      with_module_and({"MAX_SIZE", "4kb", "--replicaof", "127.0.0.1", std::to_string(master.port())}));
  master.run({"BF.RESERVE", "f", "0.01", "100000"});
  master.run({"BF.ADD", "f", "a"});
  test::wait_until([&] { return content(replica) == content(master); }, "the replica has the filter");
}

TEST(Bloom, KeyOfAnotherTypeIsAnErrorForEveryCommand) {
  const redis_server server(test::with_module());
  server.run({"SET", "text", "x"});
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"BF.RESERVE", "text", "0.1", "10"},
                                             {"BF.ADD", "text", "a"},
                                             {"BF.MADD", "text", "a"},
                                             {"BF.INSERT", "text", "ITEMS", "a"},
                                             {"BF.EXISTS", "text", "a"},
                                             {"BF.MEXISTS", "text", "a"},
                                             {"BF.INFO", "text"},
                                             {"BF.CARD", "text"},
                                             {"BF.DEBUG", "text"},
                                             {"BF.SCANDUMP", "text", "0"},
                                             {"BF.LOADCHUNK", "text", "2", "x"}})
    EXPECT_THAT(run(server, words), StartsWith("-WRONGTYPE")) << words[0];
  EXPECT_EQ(server.run({"GET", "text"}), "x");
}

TEST(Bloom, DescribesItsCommands) {
  const redis_server server(test::with_module());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bf.reserve", "f", "0.1", "10"},
                                             {"bf.add", "f", "a"},
                                             {"bf.madd", "f", "a", "b"},
                                             {"bf.insert", "f", "ITEMS", "a"},
                                             {"bf.exists", "f", "a"},
                                             {"bf.mexists", "f", "a", "b"},
                                             {"bf.info", "f"},
                                             {"bf.card", "f"},
                                             {"bf.debug", "f"},
                                             {"bf.scandump", "f", "0"},
                                             {"bf.loadchunk", "f", "1", "x"}})
    EXPECT_EQ(run(server, joined({"COMMAND", "GETKEYS"}, words)), "f") << words[0];
  if (const std::string categories = server.run({"ACL", "CAT"});
      categories.find("bloom") != std::string::npos) {
    EXPECT_EQ(server.run({"ACL", "SETUSER", "eve", "on", "nopass", "~*", "+@bloom"}), "OK");
    EXPECT_THAT(server.run({"ACL", "DRYRUN", "eve", "BF.ADD", "f", "a"}), "OK");
    EXPECT_THAT(server.run({"ACL", "DRYRUN", "eve", "GET", "f"}), HasSubstr("no permissions"));
  } else {
    EXPECT_THAT(server.run({"INFO", "server"}), HasSubstr("redis_version:7.0"))
        << "which has no own categories";
  }
  server.run({"CONFIG", "SET", "notify-keyspace-events", "Kd"});
  test::listener listening(server.unix_path(), "__keyspace@0__:f");
  server.run({"BF.ADD", "f", "a"});
  EXPECT_EQ(listening.next(), "bf.reserve");
  EXPECT_EQ(listening.next(), "bf.add");
}

}  // namespace
}  // namespace everseen::redis_module
