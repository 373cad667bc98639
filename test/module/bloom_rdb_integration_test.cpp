// RedisBloom's encodings of a filter in an RDB, which this test writes by itself, and what loading them
// costs.

#include <bit>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"

#include "test/module/server_facts.hpp"
#include "test/support/model/redisbloom_chain.hpp"
#include "test/support/sanitizer.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::StartsWith;

/// A value of a module's type as DUMP returns it: what the module saved, each with its kind.
class module_dump {
 public:
  module_dump(std::string_view type, unsigned encoding) : bytes_(1, '\7') {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::uint64_t id = 0;
    for (const char letter : type) id = id << 6 | letters.find(letter);
    length(id << 10 | encoding);
  }
  module_dump& number(std::uint64_t value) {
    length(2);
    length(value);
    return *this;
  }
  module_dump& decimal(double value) {
    length(4);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
    return *this;
  }
  module_dump& text(std::span<const std::byte> value) {
    length(5);
    length(value.size());
    bytes_.append(reinterpret_cast<const char*>(value.data()), value.size());
    return *this;
  }
  /// With a version that every server reads, and without a checksum.
  [[nodiscard]] std::string end() {
    length(0);
    return bytes_ + std::string({6, 0}) + std::string(8, '\0');
  }

 private:
  void length(std::uint64_t value) {
    if (value < 64) {
      bytes_ += static_cast<char>(value);
      return;
    }
    bytes_ += static_cast<char>(0x81);
    for (int shift = 56; shift >= 0; shift -= 8) bytes_ += static_cast<char>(value >> shift);
  }

  std::string bytes_;
};

/// @param extra_bits  by which its layers claim to be longer than they are
std::string saved(const redisbloom::chain& chain, unsigned encoding, std::uint64_t extra_bits = 0) {
  module_dump dump("MBbloom--", encoding);
  dump.number(chain.keys).number(chain.layers.size()).number(chain.flags);
  if (encoding >= 4) dump.number(chain.expansion);
  for (const redisbloom::layer& each : chain.layers)
    dump.number(each.capacity)
        .decimal(each.error_rate)
        .number(each.probes)
        .decimal(each.bits_per_key)
        .number(8 * each.bits.size() + extra_bits)
        .number(each.log2_bits)
        .text(each.bits)
        .number(each.keys);
  if (encoding >= 5) dump.number(0xC6A4A7935BD1E995);
  return dump.end();
}

class BloomRdb : public testing::Test {
 protected:
  BloomRdb() { server_.run({"DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1"}); }
  [[nodiscard]] std::string restore(const std::string& payload) const {
    return test::raw_command(server_.unix_path(),
                             std::vector<std::string>{"RESTORE", "f", "0", payload, "REPLACE"});
  }
  /// All chunks of a filter, as one text.
  [[nodiscard]] std::string loaded_chunks(const std::string& name) const {
    std::string all;
    for (std::string iterator = "0";;) {
      const std::string reply =
          test::raw_command(server_.unix_path(), std::vector<std::string>{"BF.SCANDUMP", name, iterator});
      iterator = reply.substr(0, reply.find('\n'));
      if (iterator == "0") return all;
      all += reply + '\n';
    }
  }

  redis_server server_{test::with_module()};
};

std::string chunks_of(const redisbloom::chain& chain) {
  std::string all;
  redisbloom::dumper out(chain);
  while (const auto each = out.next())
    all.append(std::to_string(each->iterator))
        .append("\n")
        .append(reinterpret_cast<const char*>(each->data.data()), each->data.size())
        .append("\n");
  return all;
}

// Promise: filters of RedisBloom answer as before (module, In place of RedisBloom).
TEST_F(BloomRdb, FiltersOfOlderEncodingsContinueAsTheyWere) {
  for (const unsigned encoding : {2U, 3U, 4U}) {
    redisbloom::chain chain = redisbloom::chain::reserve({.error_rate = 0.001, .capacity = 100});
    for (int i = 0; i < 650; ++i) chain.add(std::to_string(i));
    ASSERT_GE(chain.layers.size(), 3U);
    ASSERT_EQ(restore(saved(chain, encoding)), "OK") << encoding;
    EXPECT_EQ(loaded_chunks("f"), chunks_of(chain)) << encoding;
    for (int i = 640; i < 800; ++i) {
      const verdict own = chain.add(std::to_string(i));
      EXPECT_EQ(server_.run({"BF.ADD", "f", std::to_string(i)}), own == verdict::fresh ? "1" : "0") << i;
    }
    EXPECT_EQ(loaded_chunks("f"), chunks_of(chain)) << encoding;
  }
}

/// Rounds the newest layer to bytes, as RedisBloom did before it rounded to 64 bits.
/// @pre the layer has no key, or this one
void round_to_bytes(redisbloom::chain& chain, const std::string& key = {}) {
  redisbloom::layer& newest = chain.layers.back();
  const auto bits = static_cast<std::uint64_t>(static_cast<double>(newest.capacity) * newest.bits_per_key);
  newest.bits.assign((bits + 7) / 8, std::byte{});
  if (newest.keys > 0) newest.add(murmur64a_pair(key));
}

// Promise: filters of RedisBloom answer as before (module, In place of RedisBloom).
TEST_F(BloomRdb, LayersThatEndWithinAWordContinueAsTheyWere) {
  struct {
    redisbloom::request asked;
    std::size_t bytes;
  } const published[] = {{{.error_rate = 0.0001, .capacity = 20'000}, 51'532},
                         {{.error_rate = 0.01, .capacity = 100}, 138},
                         {{.error_rate = 0.001, .capacity = 100}, 198},
                         {{.error_rate = 0.01, .capacity = 100, .grows = false}, 120}};
  for (const auto& [asked, bytes] : published) {
    redisbloom::chain chain = redisbloom::chain::reserve(asked);
    round_to_bytes(chain);
    ASSERT_EQ(chain.layers[0].bits.size(), bytes);
    for (int i = 0; i < 90; ++i) chain.add(std::to_string(i));
    ASSERT_EQ(restore(saved(chain, 4)), "OK") << bytes;
    for (int i = 0; i < 1'000; ++i) {
      const std::string key = std::to_string(i);
      EXPECT_EQ(server_.run({"BF.EXISTS", "f", key}), chain.may_contain(key) ? "1" : "0") << key;
    }
    ASSERT_EQ(server_.run({"DEBUG", "RELOAD"}), "OK");
    EXPECT_EQ(loaded_chunks("f"), chunks_of(chain)) << bytes;
  }
}

TEST_F(BloomRdb, LaterLayersMayEndWithinAWordToo) {
  redisbloom::chain chain = redisbloom::chain::reserve({.error_rate = 0.01, .capacity = 90});
  round_to_bytes(chain);
  for (int i = 0; chain.layers.size() < 2; ++i) {
    chain.add(std::to_string(i));
    if (chain.layers.size() == 2) round_to_bytes(chain, std::to_string(i));
  }
  ASSERT_NE(chain.layers[1].bits.size() % 8, 0U);
  for (int i = 0; i < 250; ++i) chain.add(std::to_string(i));
  ASSERT_EQ(chain.layers.size(), 2U);
  ASSERT_EQ(restore(saved(chain, 3)), "OK");
  EXPECT_EQ(loaded_chunks("f"), chunks_of(chain));
  ASSERT_EQ(server_.run({"COPY", "f", "copy"}), "1");
  for (int i = 240; i < 400; ++i) {
    const verdict own = chain.add(std::to_string(i));
    EXPECT_EQ(server_.run({"BF.ADD", "f", std::to_string(i)}), own == verdict::fresh ? "1" : "0") << i;
  }
  ASSERT_EQ(chain.layers.size(), 3U);
  EXPECT_EQ(loaded_chunks("f"), chunks_of(chain)) << "the third layer has whole words";
  EXPECT_EQ(server_.run({"BF.MERGE", "copy", "f"}), "OK");
  for (int i = 0; i < 400; ++i) EXPECT_EQ(server_.run({"BF.EXISTS", "copy", std::to_string(i)}), "1") << i;
}

TEST_F(BloomRdb, LayerThatSaysOtherBitsThanItHasIsRefused) {
  const redisbloom::chain chain = redisbloom::chain::reserve({});
  for (const std::uint64_t extra : {~std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{64}})
    EXPECT_THAT(restore(saved(chain, 4, extra)), StartsWith("-ERR Bad data format")) << extra;
}

// Promise: filters of RedisBloom answer as before (module, In place of RedisBloom).
TEST_F(BloomRdb, FilterWithoutAnExpansionKeepsItsLayers) {
  redisbloom::chain chain = redisbloom::chain::reserve({.error_rate = 0.01, .capacity = 10});
  chain.add("a");
  chain.expansion = 0;
  ASSERT_EQ(restore(saved(chain, 4)), "OK") << "BF.RESERVE f 0.01 10 EXPANSION 0";
  EXPECT_EQ(server_.run({"BF.EXISTS", "f", "a"}), "1");
  EXPECT_EQ(server_.run({"BF.EXISTS", "f", "b"}), "0");
  std::string message;
  for (int i = 0; !message.starts_with('-') && i < 100; ++i)
    message = server_.run({"BF.ADD", "f", std::to_string(i)});
  EXPECT_THAT(message, "-ERR non scaling filter is full");
  EXPECT_EQ(server_.run({"BF.CARD", "f"}), "10");
}

TEST_F(BloomRdb, FilterWithoutAnExpansionGrowsAsItsLayersHaveGrown) {
  redisbloom::chain chain = redisbloom::chain::reserve({.error_rate = 0.01, .capacity = 10, .expansion = 4});
  for (int i = 0; i < 40; ++i) chain.add(std::to_string(i));
  ASSERT_EQ(chain.layers.size(), 2U);
  chain.expansion = 0;
  ASSERT_EQ(restore(saved(chain, 4)), "OK");
  chain.expansion = 4;
  EXPECT_EQ(loaded_chunks("f"), chunks_of(chain));
  for (int i = 0; i < 100; ++i) {
    const verdict own = chain.add(std::to_string(i));
    EXPECT_EQ(server_.run({"BF.ADD", "f", std::to_string(i)}), own == verdict::fresh ? "1" : "0") << i;
  }
  ASSERT_EQ(chain.layers.size(), 3U);
  EXPECT_EQ(loaded_chunks("f"), chunks_of(chain));
}

TEST_F(BloomRdb, FilterWithItsOwnExpansionNeedsAnEncodingThatHasIt) {
  redisbloom::chain chain = redisbloom::chain::reserve({.error_rate = 0.01, .capacity = 50, .expansion = 4});
  for (int i = 0; i < 120; ++i) chain.add(std::to_string(i));
  EXPECT_EQ(restore(saved(chain, 4)), "OK");
  EXPECT_EQ(loaded_chunks("f"), chunks_of(chain));
  EXPECT_THAT(restore(saved(chain, 3)), StartsWith("-ERR Bad data format"))
      << "its second layer is not twice the first";
}

TEST_F(BloomRdb, UnknownEncodingsAreRefused) {
  const redisbloom::chain chain = redisbloom::chain::reserve({});
  for (const unsigned encoding : {0U, 1U, 5U, 1023U})
    EXPECT_THAT(restore(saved(chain, encoding)), StartsWith("-ERR Bad data format")) << encoding;
}

TEST_F(BloomRdb, FieldsThatContradictEachOtherAreRefused) {
  redisbloom::chain good = redisbloom::chain::reserve({.error_rate = 0.01, .capacity = 50});
  for (int i = 0; i < 120; ++i) good.add(std::to_string(i));
  ASSERT_EQ(good.layers.size(), 2U);
  const auto restored = [&](auto change) {
    redisbloom::chain changed = good;
    change(changed);
    return restore(saved(changed, 4));
  };
  const auto refused = StartsWith("-ERR Bad data format");
  EXPECT_THAT(restored([](auto& c) { c.layers.clear(); }), refused);
  EXPECT_THAT(restored([](auto& c) { ++c.keys; }), refused);
  EXPECT_THAT(restored([](auto& c) { c.flags &= ~redisbloom::flags::wide_hash; }), refused)
      << "the 32-bit hash";
  EXPECT_THAT(restored([](auto& c) { c.flags |= 1U << 31; }), refused);
  EXPECT_THAT(restored([](auto& c) { c.expansion = 0, ++c.layers[1].capacity; }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].probes = 0; }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].probes = 4'000'000'000; }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].bits.clear(); }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].bits.pop_back(); }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[0].bits.resize(1 << 20); }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].error_rate = c.layers[0].error_rate; }), refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].error_rate = std::bit_cast<double>(~std::uint64_t{0}); }),
              refused);
  EXPECT_THAT(restored([](auto& c) { c.layers[1].log2_bits = 63; }), refused);
  EXPECT_EQ(server_.run({"EXISTS", "f"}), "0");
  EXPECT_EQ(restored([](auto&) {}), "OK");
}

/// The most bytes that a server had so far, as its system counts them: the server's own figure is a sample.
/// @param kind  "VmHWM:", memory, or "VmPeak:", addresses
std::uint64_t most_bytes_of(const redis_server& server, std::string_view kind) {
  std::ifstream status("/proc/" + field_of(server, "server", "process_id") + "/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kilobytes = 0; word == kind && status >> kilobytes) return kilobytes * 1024;
  throw std::runtime_error("the system does not say how much memory a process had");
}

// A layer is up to gigabytes, and a server that starts has just enough memory for its data.
TEST(BloomRdbMemory, FilterIsNotTwiceInMemoryWhileItIsLoaded) {
  constexpr std::uint64_t bits = 118'000'000;
  for (const std::string layout : {"redisbloom", "everseen"}) {
    redis_server server(joined(test::with_module(), {"LAYOUT", layout, "--rdbcompression", "no"}));
    server.run({"BF.RESERVE", "f", "0.001", "60000000"});
    server.run({"BF.ADD", "f", "a"});
    ASSERT_EQ(server.run({"SAVE"}), "OK");
    server.restart();
    ASSERT_EQ(server.run({"BF.EXISTS", "f", "a"}), "1");
    EXPECT_GT(std::stoull(field_of(server, "memory", "used_memory")), bits) << layout;
    if (!test::is_sanitized) {
      EXPECT_LT(most_bytes_of(server, "VmHWM:"), bits + bits / 2) << layout;
    }
  }
}

// Nobody allowed a client's value before. What a master or the server's own files have was allowed.
TEST(RestoredFilter, IsNotLargerThanMaxSizeUnlessItsMasterHasIt) {
  for (const std::string layout : {"redisbloom", "everseen"}) {
    const redis_server master(with_module_and({"LAYOUT", layout, "--repl-diskless-sync-delay", "0"}));
    master.run({"BF.RESERVE", "large", "0.01", "100000"});
    master.run({"BF.RESERVE", "small", "0.01", "1000"});
    for (const std::string name : {"large", "small"}) ASSERT_EQ(master.run({"BF.ADD", name, "a"}), "1");
    const std::vector<std::string> limit = {"MAX_SIZE", "4kb"};
    const redis_server server(with_module_and(limit));
    const auto restore = [](const redis_server& target, const std::string& payload) {
      return test::raw_command(target.unix_path(), std::vector<std::string>{"RESTORE", "f", "0", payload});
    };
    const auto dump = [&](const std::string& name) {
      return test::raw_command(master.unix_path(), std::vector<std::string>{"DUMP", name});
    };
    EXPECT_THAT(restore(server, dump("large")), StartsWith("-ERR Bad data format")) << layout;
    EXPECT_EQ(server.run({"EXISTS", "f"}), "0") << layout;
    EXPECT_EQ(restore(server, dump("small")), "OK") << layout;

    const redis_server replica(
        joined(with_module_and(limit), {"--replicaof", "127.0.0.1", std::to_string(master.port())}));
    must_become_equal(master, replica);
    EXPECT_EQ(restore(master, dump("large")), "OK") << layout;
    must_become_equal(master, replica);
    EXPECT_EQ(replica.run({"DEBUG", "RELOAD"}), "OK") << layout;
    EXPECT_EQ(content(replica), content(master)) << layout;
  }
}

TEST(RestoredFilter, TakesNoMemoryThatItsHeaderAnnouncesBeyondTheMaximum) {
  constexpr std::uint64_t announced = std::uint64_t{1} << 30;
  const redis_server source(test::with_module());
  ASSERT_EQ(source.run({"BF.RESERVE", "f", "0.001", "1000000000"}), "OK");
  ASSERT_EQ(source.run({"BF.ADD", "f", "a"}), "1");
  const std::string reply =
      test::raw_command(source.unix_path(), std::vector<std::string>{"BF.SCANDUMP", "f", "0"});
  const std::string_view header = std::string_view(reply).substr(2);
  ASSERT_GT(image::decode_chunk_header(std::as_bytes(std::span(header))).bit_bytes(), announced);
  const std::string hostile = module_dump("everseen1", 1).text(std::as_bytes(std::span(header))).end();
  for (const std::vector<std::string>& config :
       {with_module_and({"MAX_SIZE", "1mb"}), joined(test::with_module(), {"--maxmemory", "64mb"})}) {
    const redis_server server(config);
    server.run({"DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1"});
    const std::uint64_t before = most_bytes_of(server, "VmPeak:");
    EXPECT_THAT(test::raw_command(server.unix_path(), std::vector<std::string>{"RESTORE", "f", "0", hostile}),
                StartsWith("-ERR Bad data format"));
    EXPECT_LT(most_bytes_of(server, "VmPeak:") - before, announced / 4);
    EXPECT_EQ(server.run({"EXISTS", "f"}), "0");
  }
}

// Promise: a replica without memory for what its master has ends (module, Filters as keys: BF.*).
TEST(RestoredFilter, EndsAReplicaThatLacksMemoryForItAsACopiedOneDoes) {
  if (test::is_sanitized) GTEST_SKIP() << "a sanitized server needs all addresses";
  for (const std::string command : {"COPY", "RESTORE"}) {
    const redis_server master(with_module_and({"--repl-diskless-sync-delay", "0"}));
    const redis_server replica(
        joined(test::with_module(), {"--replicaof", "127.0.0.1", std::to_string(master.port())}));
    master.run({"BF.RESERVE", "f", "0.001", "20000000"});
    master.run({"BF.ADD", "f", "a"});
    must_become_equal(master, replica);
    const rlim_t most = most_bytes_of(replica, "VmSize:") + (8 << 20);
    const rlimit limit = {most, most};
    ASSERT_EQ(::prlimit(std::stoi(field_of(replica, "server", "process_id")), RLIMIT_AS, &limit, nullptr), 0);
    if (command == "COPY") {
      EXPECT_EQ(master.run({"COPY", "f", "g"}), "1");
    } else {
      EXPECT_EQ(master.run({"RESTORE", "g", "0", master.run({"DUMP", "f"})}), "OK");
    }
    test::wait_until(
        [&] {
          std::ifstream log(replica.directory() / "log");
          const std::string all{std::istreambuf_iterator<char>(log), {}};
          return all.find("out of memory for a filter that the master or the AOF has") != std::string::npos;
        },
        "the replica ends after " + command);
  }
}

}  // namespace
}  // namespace everseen::redis_module
