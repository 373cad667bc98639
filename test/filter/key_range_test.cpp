#include <array>
#include <list>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;

using enum verdict;

class KeyRange : public testing::Test {
 protected:
  /// Adds three keys, of which the last repeats the first.
  template <typename Keys>
  void expect_two_fresh(Keys&& keys) {
    filter f("f", memory_store().create("f", make_spec({.capacity = 100, .error_rate = 1e-9})));
    std::array<verdict, 3> out{};
    ASSERT_TRUE(f.add(keys, out));
    EXPECT_THAT(out, ElementsAre(fresh, fresh, seen));
    EXPECT_TRUE(f.may_contain("a, a key that is longer than a short string"));
  }

  const std::string a = "a, a key that is longer than a short string";
  const std::string b = "b, a key that is longer than a short string";
};

TEST_F(KeyRange, AcceptsContainersAndArrays) {
  expect_two_fresh(std::vector<std::string>{a, b, a});
  expect_two_fresh(std::list<std::string>{a, b, a});
  expect_two_fresh(std::vector<std::string_view>{a, b, a});
  expect_two_fresh(std::array<std::string, 3>{a, b, a});
  const char* const words[] = {a.c_str(), b.c_str(), a.c_str()};
  expect_two_fresh(words);
  const std::vector<std::string> constant = {a, b, a};
  expect_two_fresh(constant);
  expect_two_fresh(std::span(constant));
}

TEST_F(KeyRange, AcceptsViewsThatMakeTheirKeys) {
  const std::vector<int> rows = {0, 1, 0};
  expect_two_fresh(rows | std::views::transform([&](int row) { return row == 0 ? a : b; }));
  expect_two_fresh(rows |
                   std::views::transform([&](int row) -> const std::string& { return row == 0 ? a : b; }));
  expect_two_fresh(rows | std::views::transform([&](int row) { return std::string_view(row == 0 ? a : b); }));
  const std::vector<std::string> more = {a, "", b, a};
  expect_two_fresh(more | std::views::filter([](const std::string& key) { return !key.empty(); }));
}

TEST_F(KeyRange, AcceptsSinglePassRanges) {
  filter f("f", memory_store().create("f", make_spec({.capacity = 100, .error_rate = 1e-9})));
  std::istringstream words("one two one");
  std::array<verdict, 3> out{};
  ASSERT_TRUE(f.add(std::views::istream<std::string>(words), out));
  EXPECT_THAT(out, ElementsAre(fresh, fresh, seen));
}

TEST_F(KeyRange, ChecksLikeItAddsAndAcceptsTimes) {
  using namespace std::chrono_literals;
  filter f("f", memory_store().create("f", make_spec({.capacity = 100, .window = window_spec{10min}})));
  const std::vector<std::string> keys = {a, b};
  const std::vector<event_time> times = {event_time(1h), event_time(2h)};
  std::vector<verdict> out(2);
  ASSERT_TRUE(f.add(keys, out, times));
  ASSERT_TRUE(f.may_contain(keys, out, times));
  EXPECT_THAT(out, ElementsAre(verdict::late, seen));
  ASSERT_TRUE(f.may_contain(std::vector<std::string>{"c", b}, out, std::span(times).last(1)));
  EXPECT_THAT(out, ElementsAre(fresh, seen));
}

TEST_F(KeyRange, IsNeitherAStringNorARangeOfOtherTypes) {
  static_assert(!key_range<std::string>);
  static_assert(!key_range<std::vector<int>>);
  static_assert(!key_range<std::vector<std::string_view>&>, "a span of views needs no conversion");
  static_assert(key_range<std::vector<std::string>&>);
}

}  // namespace
}  // namespace everseen
