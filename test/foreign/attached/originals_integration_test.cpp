// PHP and Java run the published algorithms beside ours, on one live server: each side sees the keys of the
// other. ./dev setup installs both.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/foreign/guava/guava.hpp"

#include "test/foreign/attached/attached.hpp"
#include "test/support/base64.hpp"
#include "test/support/originals.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/text_files.hpp"

namespace everseen::foreign {
namespace {

using test::redis_server;
using ::testing::Each;

const std::string shared_peer = test::source_directory() + "/test/foreign/peers/shared_peer.php";

/// One digit for each key, as the peers print verdicts.
std::string digits_of(const std::vector<verdict>& verdicts) {
  std::string text;
  for (const verdict v : verdicts) text += v == verdict::seen ? '1' : '0';
  return text;
}

class BesidePhp : public ::testing::Test {
 protected:
  std::string php_adds(const std::string& kind, const attachment& a, const std::vector<std::string>& keys,
                       const std::vector<std::string>& sockets) {
    std::string lines;
    for (const std::string& key : keys) lines += test::base64(key) + "\n";
    std::vector<std::string> command = {"php",
                                        shared_peer,
                                        kind,
                                        a.key,
                                        std::to_string(a.hashing.bits),
                                        std::to_string(a.hashing.probes),
                                        files_.make(lines)};
    command.insert(command.end(), sockets.begin(), sockets.end());
    const test::program_result result = test::run_program(command);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    return result.out;
  }

  /// Both add in turns; a third of the keys are added again by the other.
  void both_add(const std::string& kind, const attachment& a, filter f,
                const std::vector<std::string>& sockets) {
    const std::vector<std::string> keys = random_keys(300, 17);
    const auto part = [&](int from, int end) {
      return std::vector<std::string>(keys.begin() + from, keys.begin() + end);
    };
    const std::string fresh(100, '0');
    const std::string seen(100, '1');
    EXPECT_EQ(digits_of(add_to(f, part(0, 200)).verdicts), fresh + fresh);
    EXPECT_EQ(php_adds(kind, a, part(100, 300), sockets), seen + fresh);
    EXPECT_EQ(digits_of(look_in(f, keys).verdicts), seen + seen + seen);
    EXPECT_EQ(digits_of(add_to(f, part(100, 300)).verdicts), seen + seen);
    EXPECT_EQ(php_adds(kind, a, part(0, 100), sockets), seen);
  }

  redis_server server_;
  test::text_files files_;
};

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_F(BesidePhp, BkdrIsShared) {
  const attachment a = attachment_to("clicks", family::bkdr_php, 50'000'017, 16);
  both_add("bkdr", a, attached(*store_at(server_.url()), "a", a), {server_.unix_path()});
}

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_F(BesidePhp, ShardsOverTwoServersAreShared) {
  const redis_server other;
  attachment a = attachment_to("clicks", family::bkdr_php, 30'000'000'000, 8);
  a.shape = attachment::form::sharded;
  const auto store = store_at("redis://" + server_.address() + "," + other.address());
  both_add("sharded", a, attached(*store, "a", a), {server_.unix_path(), other.unix_path()});
  EXPECT_GT(keys_like(server_, "clicks.*").size() + keys_like(other, "clicks.*").size(), 3u);
}

TEST_F(BesidePhp, UserIdsAreShared) {
  const attachment a = attachment_to("ids", family::uid_php);
  filter f = attached(*store_at(server_.url()), "a", a);
  std::vector<std::string> ours;
  std::vector<std::string> theirs;
  for (int i = 0; i < 100; ++i) {
    ours.push_back(std::to_string(10'000'000'000 + i * 7'919));
    theirs.push_back(std::to_string(20'000'000'000 + i * 7'919));
  }
  (void)add_to(f, ours);
  EXPECT_EQ(php_adds("uid", a, ours, {server_.unix_path()}), std::string(100, '1'));
  (void)php_adds("uid", a, theirs, {server_.unix_path()});
  EXPECT_THAT(look_in(f, theirs).verdicts, Each(verdict::seen));
}

/// The Java version moves the cursor and then clears the last bit of the new string, in two steps: keys added
/// between them may lose it.
bool sets_last_bit(const attachment& a, std::string_view key) {
  std::vector<std::uint64_t> positions(a.hashing.probes);
  foreign::positions(a.hashing, key, positions);
  return std::ranges::find(positions, a.hashing.bits - 1) != positions.end();
}

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST(BesideJava, BothSidesGrowOneFilter) {
  const redis_server server;
  test::text_files files;
  const auto shape = guava::smallest(guava::strategy::mitz_64, 1'000, 0.0005);
  attachment a = attachment_to("urls", family::guava64, shape.bits(), shape.probes);
  a.shape = attachment::form::growing;
  a.cursor = "cursor";
  filter f = attached(*store_at(server.url()), "a", a);
  std::string lines;
  std::vector<std::string> theirs;
  std::vector<std::string> ours;
  for (int i = 0; i < 2'000; ++i) {
    theirs.push_back("theirs " + std::to_string(i));
    lines += theirs.back() + "\n";
  }
  for (int i = 0; ours.size() < 2'000; ++i)
    if (const std::string key = "ours " + std::to_string(i); !sets_last_bit(a, key)) ours.push_back(key);
  std::vector<std::string> command = test::java_command("/usr/share/java/guava.jar", "GrowingPeer");
  for (const std::string& word : {std::to_string(server.port()), a.key, std::to_string(shape.bits()),
                                  std::to_string(shape.probes), files.make(lines)})
    command.push_back(word);
  test::running_program java(command, {.piped_input = true});
  ASSERT_TRUE(java.waits_to_say("ready", std::chrono::seconds(60))) << java.err();
  java.write("\n");
  for (std::size_t from = 0; from < ours.size(); from += 50) {
    const std::vector<std::string> some(ours.begin() + static_cast<std::ptrdiff_t>(from),
                                        ours.begin() + static_cast<std::ptrdiff_t>(from) + 50);
    ASSERT_TRUE(add_to(f, some).result);
  }
  const test::program_result result = java.wait();
  ASSERT_EQ(result.exit_code, 0) << result.err;

  EXPECT_GE(std::stoi(server.run({"GET", "cursor"})), 3);
  EXPECT_EQ(server.run({"STRLEN", "urls-1"}), std::to_string(shape.bits() / 8));
  EXPECT_THAT(look_in(f, theirs).verdicts, Each(verdict::seen));
  EXPECT_THAT(look_in(f, ours).verdicts, Each(verdict::seen));

  std::string again;
  for (const std::string& key : ours) again += key + "\n";
  std::vector<std::string> look = command;
  look.back() = files.make(again);
  EXPECT_EQ(test::run_program(look, {.input = "\n"}).out, "ready\n" + std::string(ours.size(), '0') + "\n")
      << "Java does not see our keys";
}

}  // namespace
}  // namespace everseen::foreign
