#include "everseen/filter/deduplicator.hpp"

#include <array>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/open_store.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto F = verdict::fresh;
constexpr auto S = verdict::seen;

class Deduplicator : public testing::Test {
 protected:
  Deduplicator() { (void)store_->create("clicks", make_spec({.capacity = 1'000, .error_rate = 1e-12})); }

  /// Like a newly started program.
  std::unique_ptr<deduplicator> start(const char* job = "count") {
    return std::make_unique<deduplicator>(filter("clicks", store_->open("clicks", access::write)), job);
  }
  static std::vector<verdict> claim(deduplicator& claimant, std::vector<std::string_view> keys,
                                    std::uint64_t first) {
    std::vector<std::uint64_t> positions;
    for (std::size_t i = 0; i < keys.size(); ++i) positions.push_back(first + i);
    std::vector<verdict> out(keys.size());
    EXPECT_TRUE(claimant.claim("log", {keys, positions}, out));
    return out;
  }
  template <typename Call>
  static std::string refusal(Call call) {
    try {
      call();
    } catch (const parameter_error& e) {
      return e.what();
    }
    return "none";
  }

  test::scratch_directory scratch_;
  std::shared_ptr<store> store_ = open_store("file:" + scratch_.path().string());
};

TEST_F(Deduplicator, RestartsFromATokenWithTheFirstVerdicts) {
  std::string kept;
  {
    const auto events = start();
    EXPECT_EQ(events->begin("log", kept), 0u);
    EXPECT_THAT(claim(*events, {"a", "b", "a"}, 0), ElementsAre(F, F, S));
    kept = events->token("log");
    EXPECT_THAT(claim(*events, {"c", "b", "d"}, 3), ElementsAre(F, S, F));
  }  // crashed before it acted on the last three
  const auto events = start();
  EXPECT_EQ(events->begin("log", kept), 3u);
  EXPECT_THAT(claim(*events, {"c"}, 3), ElementsAre(F));
  EXPECT_THAT(claim(*events, {"b", "d", "c", "e"}, 4), ElementsAre(S, F, S, F));
}

TEST_F(Deduplicator, RestartsFromTheLedgerWhereThereIsNoToken) {
  {
    const auto events = start();
    (void)events->begin("log");
    (void)claim(*events, {"a", "b"}, 0);
    EXPECT_EQ(events->settle("log"), 2u);
    (void)claim(*events, {"c"}, 2);
  }
  const auto events = start();
  EXPECT_EQ(events->begin("log"), 2u);
  EXPECT_THAT(claim(*events, {"c", "a"}, 2), ElementsAre(F, S));
}

TEST_F(Deduplicator, RefusesTheTokenOfAnother) {
  const auto events = start();
  (void)events->begin("log");
  (void)events->begin("other log");
  const std::string token = events->token("other log");
  EXPECT_EQ(events->begin("other log", token), 0u);
  EXPECT_THAT(refusal([&] { (void)events->begin("log", token); }), HasSubstr("of another source"));
  EXPECT_THAT(refusal([&] { (void)events->begin("log", "x y z"); }), HasSubstr("not made by this version"));
  EXPECT_THAT(refusal([&] { (void)events->begin("log", "everseen-1 hits count 3 log"); }),
              HasSubstr("of another filter"));
  EXPECT_THAT(refusal([&] { (void)events->begin("log", "everseen-1 clicks audit 3 log"); }),
              HasSubstr("of another job"));
  for (const char* position : {"", "-1", "3x", "99999999999999999999"})
    EXPECT_THAT(refusal([&] {
                  (void)events->begin("log", "everseen-1 clicks count " + std::string(position) + " log");
                }),
                HasSubstr("has no position"));
}

TEST_F(Deduplicator, RefusesTimesFarAheadAndClaimsNothing) {
  (void)store_->create("w", make_spec({.capacity = 1'000, .window = window_spec{std::chrono::minutes(1)}}));
  deduplicator events(filter("w", store_->open("w", access::write)), "count");
  events.begin("log");
  const std::array<std::string_view, 2> keys = {"a", "b"};
  const std::array<std::uint64_t, 2> positions = {0, 1};
  const std::array times = {wall_clock(), wall_clock() + std::chrono::minutes(2)};
  std::array<verdict, 2> out{};
  EXPECT_THAT(refusal([&] {
                (void)events.claim("log", {keys, positions, times}, out);
              }),
              HasSubstr("too far ahead of the clock"));
  EXPECT_EQ(events.of().info().keys, 0U);
}

TEST_F(Deduplicator, RefusesInvalidArguments) {
  const auto events = start();
  const std::vector<std::string_view> keys = {"a", "b"};
  std::vector<verdict> out(2);
  const auto claiming = [&](std::vector<std::uint64_t> positions, increments counts = {}) {
    return refusal([&] { (void)events->claim("log", {keys, positions, {}, counts}, out); });
  };
  EXPECT_THAT(claiming({0, 1}), HasSubstr("was not begun"));
  (void)events->begin("log", "everseen-1 clicks count 5 log");
  EXPECT_THAT(claiming({4, 5}), HasSubstr("must ascend"));
  EXPECT_THAT(claiming({6, 6}), HasSubstr("must ascend"));
  EXPECT_THAT(claiming({6}), HasSubstr("one position per event"));
  EXPECT_THAT(claiming({6, ~std::uint64_t{0}}), HasSubstr("must ascend"));
  const std::vector<std::uint32_t> one = {0};
  const std::vector<std::string_view> names = {"total"};
  EXPECT_THAT(claiming({6, 7}, {names, one, 1}), HasSubstr("as many counters"));
  const std::vector<std::uint32_t> two = {0, 0};
  EXPECT_THAT(claiming({6, 7}, {names, two, 1}), HasSubstr("by Redis alone"));
  EXPECT_EQ(claiming({6, 7}), "none");
}

}  // namespace
}  // namespace everseen
