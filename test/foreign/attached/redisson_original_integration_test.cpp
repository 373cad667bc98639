// Redisson itself beside everseen on one filter: the same bits. ./dev peers brings it.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/foreign/attached/attached.hpp"
#include "test/support/originals.hpp"

namespace everseen::foreign {
namespace {

using test::redis_server;
using ::testing::Each;
using ::testing::HasSubstr;

class BesideRedisson : public ::testing::Test {
 protected:
  void SetUp() override { test::skip_test_without_peer("originals"); }

  [[nodiscard]] std::vector<std::string> command() const {
    auto words = test::java_command((test::peer("originals") / "*").string(), "RedissonPeer");
    words.push_back(std::to_string(server_.port()));
    return words;
  }

  filter attach(const std::string& key) {
    attachment a{{family::redisson, 0, 0}};
    a.key = key;
    return attached(*store_at(server_.url()), key, a, missing_key::refuse);
  }

  redis_server server_;
};

std::vector<std::string> random_texts(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> letters = {"a", "Z", "0", " ", "é", "ß", "布", "滤", "😀", "𝔹"};
  std::mt19937_64 random(seed);
  std::vector<std::string> texts(count);
  for (std::string& text : texts)
    for (std::uint64_t length = 6 + random() % 40; length > 0; --length)
      text += letters[random() % letters.size()];
  return texts;
}

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_F(BesideRedisson, BothSidesAddToOneFilter) {
  test::original redisson(command());
  for (const std::string codec : {"array", "text"}) {
    const std::string name = " " + codec + " " + codec;
    ASSERT_EQ(redisson.ask("init" + name + " 60000 0.001"), "true");
    filter f = attach(codec);
    EXPECT_EQ(redisson.ask("size" + name), std::to_string(behind(f).what().hashing.bits));
    EXPECT_EQ(redisson.ask("probes" + name), std::to_string(behind(f).what().hashing.probes));

    // The sides add in turns, and each some keys of the other; the last fifth of the keys is added by
    // neither.
    const std::vector<std::string> keys = codec == "text" ? random_texts(75'000, 3) : random_keys(75'000, 4);
    const auto part = [&](int from, int end) {
      return std::vector<std::string>(keys.begin() + from, keys.begin() + end);
    };
    naive_bits expected(behind(f).what().hashing);
    const auto fresh = [&](const std::vector<std::string>& added) {
      return std::ranges::count_if(
          added, [&](const std::string& key) { return expected.add(key) == verdict::fresh; });
    };
    EXPECT_EQ(redisson.ask("add" + name, part(0, 30'000)), std::to_string(fresh(part(0, 30'000))));
    EXPECT_EQ(std::ranges::count(add_to(f, part(15'000, 45'000)).verdicts, verdict::fresh),
              fresh(part(15'000, 45'000)));
    EXPECT_EQ(redisson.ask("add" + name, part(36'000, 60'000)), std::to_string(fresh(part(36'000, 60'000))));
    EXPECT_THAT(look_in(f, part(0, 60'000)).verdicts, Each(verdict::seen));
    const auto seen = std::ranges::count(look_in(f, keys).verdicts, verdict::seen);
    EXPECT_EQ(redisson.ask("contains" + name, keys), std::to_string(seen));
    EXPECT_TRUE(server_.run({"GET", codec}) == expected.bytes()) << codec;
  }
}

// Promise: the sizes of a filter of Redisson are those of its hash (foreign-filters, Attached filters).
TEST_F(BesideRedisson, ItsTimeToLiveStaysAndItsEndIsNoticed) {
  test::original redisson(command());
  ASSERT_EQ(redisson.ask("init text mails 1000 0.01"), "true");
  filter f = attach("mails");
  EXPECT_EQ(f.add("one"), verdict::fresh);
  ASSERT_EQ(redisson.ask("expire text mails 3600"), "true");
  EXPECT_EQ(f.add("two"), verdict::fresh);
  for (const char* key : {"mails", "{mails}:config"})
    EXPECT_GT(std::stoi(server_.run({"TTL", key})), 0) << key;
  EXPECT_EQ(redisson.ask("delete text mails"), "true");
  EXPECT_THAT(add_to(f, {"one"}).result.error().message, HasSubstr("{mails}:config"));
  ASSERT_EQ(redisson.ask("init text mails 2000 0.01"), "true");
  EXPECT_THAT(add_to(f, {"one"}).result.error().message, HasSubstr("attach it again"));
  EXPECT_EQ(server_.run({"EXISTS", "mails"}), "0") << "a bit was set";
}

}  // namespace
}  // namespace everseen::foreign
