// Compares our code with Guava and PHP themselves, on random keys. ./dev setup installs Debian's, ./dev peers
// the newest Guava.

#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/hash/funnel.hpp"
#include "everseen/foreign/bitmap/family.hpp"
#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/foreign/guava/guava.hpp"

#include "test/support/base64.hpp"
#include "test/support/bits.hpp"
#include "test/support/model/guava_filter.hpp"
#include "test/support/originals.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/text_files.hpp"

namespace everseen::foreign {
namespace {

using bytes = std::vector<std::byte>;

const std::string peers = test::source_directory() + "/test/foreign/peers/";

void write_file(const std::filesystem::path& path, std::span<const std::byte> content) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
}

bytes as_bytes(const std::string& text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

struct guava_case {
  std::string name;
  guava::strategy algorithm;
  funnel_kind funnel;
  std::uint64_t insertions;
  double rate;
};

/// A text of letters of one to four bytes in UTF-8, or a number of the funnel's type.
std::string random_key(funnel_kind funnel, std::mt19937_64& random) {
  if (funnel == funnel_kind::int32) return std::to_string(static_cast<std::int32_t>(random()));
  if (funnel == funnel_kind::int64) return std::to_string(static_cast<std::int64_t>(random()));
  const std::vector<std::string> letters = {"a", "Z", "0", " ", "é", "ß", "布", "滤", "😀", "𝔹"};
  std::string key;
  for (std::uint64_t length = random() % 40; length > 0; --length) key += letters[random() % letters.size()];
  return key;
}

/// By its origin: Debian's, or the newest.
class Guava : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "newest") test::skip_test_without_peer("originals");
  }

  /// Keys and our filter, as files for Guava.
  void prepare(const guava_case& c) {
    std::mt19937_64 random(c.insertions);
    std::ofstream keys(directory_.path() / (c.name + ".keys"), std::ios::binary);
    guava::filter ours(guava::smallest(c.algorithm, c.insertions, c.rate));
    std::string element;
    for (std::uint64_t i = 0; i < c.insertions; ++i) {
      const std::string key = random_key(c.funnel, random);
      keys << key << '\n';
      apply_funnel(c.funnel, key, element);
      ours.add(element);
    }
    write_file(directory_.path() / (c.name + ".ours"), guava::encode(ours));
    std::ofstream(directory_.path() / "cases", std::ios::app)
        << c.name << ' ' << static_cast<int>(c.algorithm) << ' ' << to_string(c.funnel) << ' ' << c.insertions
        << ' ' << c.rate << '\n';
  }

  [[nodiscard]] test::program_result run() const {
    std::vector<std::string> command = test::java_command(
        GetParam() == "newest" ? (test::peer("originals") / "*").string() : "/usr/share/java/guava.jar",
        "GuavaPeer");
    command.push_back(directory_.path().string());
    return test::run_program(command);
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    return test::text_of((directory_.path() / name).string());
  }

 private:
  test::scratch_directory directory_;
};

TEST_P(Guava, ReadsOurFilesAndWritesTheSameBytes) {
  std::vector<guava_case> cases;
  std::string expected;
  for (const auto algorithm : {guava::strategy::mitz_32, guava::strategy::mitz_64})
    for (const auto funnel : {funnel_kind::bytes, funnel_kind::chars, funnel_kind::int32, funnel_kind::int64})
      for (const auto& [insertions, rate] : std::vector<std::pair<std::uint64_t, double>>{
               {1, 0.5}, {77, 1e-12}, {1'000, 0.03}, {50'000, 0.001}}) {
        const std::string name = "case" + std::to_string(cases.size());
        cases.push_back({name, algorithm, funnel, insertions, rate});
        prepare(cases.back());
        expected += name + " true " + std::to_string(insertions) + "\n";
      }
  const test::program_result result = run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, expected);
  for (const guava_case& c : cases)
    EXPECT_EQ(content(c.name + ".theirs"), content(c.name + ".ours"))
        << to_string(c.funnel) << ' ' << c.insertions;
}

INSTANTIATE_TEST_SUITE_P(Versions, Guava, testing::Values("debian", "newest"),
                         [](const auto& one) { return one.param; });

std::vector<std::string> random_keys(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::string> keys = {""};
  while (keys.size() < count) {
    std::string key;
    for (std::uint64_t length = random() % 60; length > 0; --length) key += static_cast<char>(random());
    keys.push_back(key);
  }
  return keys;
}

/// Bits set one by one, in a buffer as long as its last bit needs, like a Redis string.
void set_growing(bytes& bits, std::uint64_t position) {
  if (bits.size() <= position / 8) bits.resize(position / 8 + 1);
  bits[position / 8] |= redis_mask(position);
}

TEST(Php, FillsTheSameStringsOfRedis) {
  constexpr std::uint64_t bits = 100'003;
  constexpr std::uint32_t instances = 3;
  const std::vector<std::string> keys = random_keys(500);
  test::redis_server server;
  test::text_files files;
  std::string lines;
  for (const std::string& key : keys) lines += test::base64(key) + "\n";
  const test::program_result result = test::run_program(
      {"php", peers + "php_peer.php", server.unix_path(), files.make(lines), std::to_string(bits),
       std::to_string(bkdr_php::max_probes), std::to_string(instances)});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;

  std::map<std::string, bytes> expected;
  const bkdr_php::shards shards(50'000'000'000, instances);
  for (const std::string& key : keys) {
    const auto place = shards.of(key);
    const std::string shard =
        std::to_string(place.instance) + ":" + bkdr_php::shards::redis_key("sharded", place.partition);
    std::vector<std::uint64_t> places(bkdr_php::max_probes);
    bkdr_php::positions(key, bits, places);
    for (const std::uint64_t p : places) {
      set_growing(expected["bkdr"], p);
      set_growing(expected[shard], p);
    }
    std::vector<std::uint64_t> of_uid(uid_php::probes);
    uid_php::positions(key, of_uid);
    for (const std::uint64_t p : of_uid) set_growing(expected["uid"], p);
  }
  EXPECT_EQ(server.run({"DBSIZE"}), std::to_string(expected.size()));
  for (const auto& [name, string] : expected)
    EXPECT_TRUE(as_bytes(server.run({"GET", name})) == string) << name;
}

}  // namespace
}  // namespace everseen::foreign
