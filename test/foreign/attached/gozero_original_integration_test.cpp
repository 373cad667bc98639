// go-zero itself beside everseen on one filter: the same bits. ./dev peers brings it.

#include <algorithm>
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

class BesideGoZero : public ::testing::Test {
 protected:
  void SetUp() override { test::skip_test_without_peer("gozero"); }

  redis_server server_;
};

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_F(BesideGoZero, BothSidesAddToOneFilter) {
  const attachment a = attachment_to("clicks", family::gozero, 80'021);
  test::original gozero(
      {(test::peer("gozero") / "peer").string(), server_.address(), a.key, std::to_string(a.hashing.bits)});
  filter f = attached(*store_at(server_.url()), "a", a);

  // The sides add in turns, and each some keys of the other; the last third of the keys is added by neither.
  // go-zero asks the server for one key at a time.
  const std::vector<std::string> keys = random_keys(12'000, 5);
  const auto part = [&](int from, int end) {
    return std::vector<std::string>(keys.begin() + from, keys.begin() + end);
  };
  naive_bits expected(a.hashing);
  const auto fresh = [&](const std::vector<std::string>& added) {
    return std::ranges::count_if(added,
                                 [&](const std::string& key) { return expected.add(key) == verdict::fresh; });
  };
  EXPECT_EQ(gozero.ask("add", part(0, 3'000)), "3000");
  (void)fresh(part(0, 3'000));
  EXPECT_EQ(std::ranges::count(add_to(f, part(2'000, 6'000)).verdicts, verdict::fresh),
            fresh(part(2'000, 6'000)));
  EXPECT_EQ(gozero.ask("add", part(5'000, 8'000)), "3000");
  (void)fresh(part(5'000, 8'000));
  EXPECT_THAT(look_in(f, part(0, 8'000)).verdicts, Each(verdict::seen));
  EXPECT_EQ(gozero.ask("contains", keys),
            std::to_string(std::ranges::count(look_in(f, keys).verdicts, verdict::seen)));
  EXPECT_TRUE(server_.run({"GET", a.key}) == expected.bytes());
}

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_F(BesideGoZero, TimeToLiveStays) {
  const attachment a = attachment_to("clicks", family::gozero);
  test::original gozero(
      {(test::peer("gozero") / "peer").string(), server_.address(), a.key, std::to_string(a.hashing.bits)});
  filter f = attached(*store_at(server_.url()), "a", a);
  EXPECT_EQ(gozero.ask("add", {"one"}), "1");
  server_.run({"EXPIRE", a.key, "3600"});
  EXPECT_EQ(f.add("two"), verdict::fresh);
  EXPECT_EQ(gozero.ask("contains", {"one", "two", "three"}), "2");
  EXPECT_GT(std::stoi(server_.run({"TTL", a.key})), 0);
}

}  // namespace
}  // namespace everseen::foreign
