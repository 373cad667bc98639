// Redisson itself beside everseen on one filter: the same bits. ./dev peers brings it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/redis/attached/attached.hpp"
#include "test/support/base64.hpp"
#include "test/support/originals.hpp"
#include "test/support/program.hpp"
#include "test/support/text_files.hpp"

namespace everseen::redis {
namespace {

using compat::family;
using test::redis_server;
using ::testing::Each;
using ::testing::HasSubstr;

class BesideRedisson : public ::testing::Test {
 protected:
  void SetUp() override { test::skip_test_without_originals(); }

  /// The answer of Redisson to one line.
  std::string ask(const std::string& line) {
    if (!redisson_) start();
    const std::size_t from = redisson_->out().size();
    redisson_->write(line + "\n");
    test::wait_until(
        [&] { return redisson_->has_ended() || redisson_->out().find('\n', from) != std::string::npos; },
        "Redisson answers " + line);
    const std::string out = redisson_->out();
    if (out.size() == from) throw std::runtime_error("Redisson ended: " + redisson_->err());
    return out.substr(from, out.size() - from - 1);
  }

  std::string ask(const std::string& line, const std::vector<std::string>& keys) {
    std::string lines;
    for (const std::string& key : keys) lines += test::base64(key) + "\n";
    return ask(line + " " + files_.make(lines));
  }

  filter attach(const std::string& key) {
    attachment a{{family::redisson, 0, 0}};
    a.key = key;
    return attached(*store_at(server_.url()), key, a, missing_key::refuse);
  }

  redis_server server_;

 private:
  void start() {
    std::vector<std::string> command =
        test::java_command((test::jars_of_originals() / "*").string(), "RedissonPeer");
    command.push_back(std::to_string(server_.port()));
    redisson_ = std::make_unique<test::running_program>(command, test::program_setup{.piped_input = true});
    if (!redisson_->waits_to_say("ready\n", std::chrono::seconds(60)))
      throw std::runtime_error("Redisson does not start: " + redisson_->err());
  }

  test::text_files files_;
  std::unique_ptr<test::running_program> redisson_;
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
  for (const std::string codec : {"array", "text"}) {
    const std::string name = " " + codec + " " + codec;
    ASSERT_EQ(ask("init" + name + " 100000 0.001"), "true");
    filter f = attach(codec);
    EXPECT_EQ(ask("size" + name), std::to_string(behind(f).what().how.bits));
    EXPECT_EQ(ask("probes" + name), std::to_string(behind(f).what().how.probes));

    // The sides add in turns, and each some keys of the other; the last fifth of the keys is added by
    // neither.
    const std::vector<std::string> keys =
        codec == "text" ? random_texts(125'000, 3) : random_keys(125'000, 4);
    const auto part = [&](int from, int to) {
      return std::vector<std::string>(keys.begin() + from, keys.begin() + to);
    };
    naive_bits expected(behind(f).what().how);
    const auto fresh = [&](const std::vector<std::string>& added) {
      return std::ranges::count_if(
          added, [&](const std::string& key) { return expected.add(key) == verdict::fresh; });
    };
    EXPECT_EQ(ask("add" + name, part(0, 50'000)), std::to_string(fresh(part(0, 50'000))));
    EXPECT_EQ(std::ranges::count(add_to(f, part(25'000, 75'000)).verdicts, verdict::fresh),
              fresh(part(25'000, 75'000)));
    EXPECT_EQ(ask("add" + name, part(60'000, 100'000)), std::to_string(fresh(part(60'000, 100'000))));
    EXPECT_THAT(look_in(f, part(0, 100'000)).verdicts, Each(verdict::seen));
    const auto seen = std::ranges::count(look_in(f, keys).verdicts, verdict::seen);
    EXPECT_EQ(ask("contains" + name, keys), std::to_string(seen));
    EXPECT_TRUE(server_.run({"GET", codec}) == expected.bytes()) << codec;
  }
}

// Promise: the sizes of a filter of Redisson are those of its hash (foreign-filters, Attached filters).
TEST_F(BesideRedisson, ItsTimeToLiveStaysAndItsEndIsNoticed) {
  ASSERT_EQ(ask("init text mails 1000 0.01"), "true");
  filter f = attach("mails");
  EXPECT_EQ(f.add("one"), verdict::fresh);
  ASSERT_EQ(ask("expire text mails 3600"), "true");
  EXPECT_EQ(f.add("two"), verdict::fresh);
  for (const char* key : {"mails", "{mails}:config"})
    EXPECT_GT(std::stoi(server_.run({"TTL", key})), 0) << key;
  EXPECT_EQ(ask("delete text mails"), "true");
  EXPECT_THAT(add_to(f, {"one"}).result.error().message, HasSubstr("{mails}:config"));
  ASSERT_EQ(ask("init text mails 2000 0.01"), "true");
  EXPECT_THAT(add_to(f, {"one"}).result.error().message, HasSubstr("attach it again"));
  EXPECT_EQ(server_.run({"EXISTS", "mails"}), "0") << "a bit was set";
}

}  // namespace
}  // namespace everseen::redis
