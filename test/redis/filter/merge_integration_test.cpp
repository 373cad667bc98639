// Merging siblings into a filter on Redis: connections that are cut, rebuilds meanwhile, and what is left.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/redis/judges.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::cutting_proxy;
using test::random_digests;
using testing::HasSubstr;
using testing::ThrowsMessage;
using direction = cutting_proxy::direction;

class RedisMerge : public JudgedBy {
 protected:
  /// An empty filter, as merge() takes it.
  filter create(const std::string& name) {
    spec s = spec_of({.capacity = 3'000, .error_rate = 1e-12, .partitions = 2});
    s.seed = hash_seed{1, 2, 3};
    return {name, store_->create(name, s)};
  }
  filter sibling_with(const filter& f, std::span<const digest> keys) {
    const std::string name = std::to_string(++siblings_);
    filter made(name, memory_.create(name, f.get_spec()));
    EXPECT_TRUE(add_keys(made.stored(), keys).result);
    return made;
  }
  static void merge(filter& into, const filter& sibling) { into.merge(std::span(&sibling, 1)); }
  static std::uint64_t seen_of(const filter& f, std::span<const digest> keys) {
    std::vector<verdict> out(keys.size());
    return f.may_contain_digests(keys, out)->seen;
  }

  random_digests source_{3};

 private:
  memory_store memory_;
  int siblings_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Judged, RedisMerge, testing::Values(judges::servers), name_of_judges);

TEST_P(RedisMerge, LeavesNothingBesideTheFilter) {
  filter all = create("all");
  const std::vector<digest> keys = source_.take(1'000);
  (void)seen_of(all, keys);
  const std::vector<std::string> before = all_keys();
  merge(all, sibling_with(all, keys));
  merge(all, sibling_with(all, {}));
  EXPECT_EQ(seen_of(all, keys), keys.size());
  EXPECT_EQ(all_keys(), before);
}

// Promise: a merge that was interrupted is completed by merging again (redis, What holds for all filters on
// Redis).
TEST_P(RedisMerge, ConnectionIsCutAnywhereAndMergingAgainCompletesIt) {
  cutting_proxy proxy(server_.port());
  const auto cut = store_at(proxy.url("?retry_for=1ms"));
  filter first = create("first");
  const std::vector<digest> mine = source_.take(500), theirs = source_.take(2'000);
  filter sibling = sibling_with(first, theirs);
  const auto passed = [&] {
    return std::array{proxy.passed(direction::to_server), proxy.passed(direction::to_client)};
  };
  const std::array before = passed();
  {
    filter undisturbed = open(*cut, "first");
    merge(undisturbed, sibling);
  }
  const std::array after = passed();
  for (const direction d : {direction::to_server, direction::to_client}) {
    const std::size_t bytes = after[static_cast<std::size_t>(d)] - before[static_cast<std::size_t>(d)];
    int failures = 0;
    constexpr std::size_t cuts = 25;
    for (std::size_t i = 0; i < cuts; ++i) {
      const std::string name = "cut " + std::to_string(i);
      filter all = create(name);
      ASSERT_TRUE(add_keys(all.stored(), mine).result);
      proxy.cut_for_long_after(d, bytes * i / cuts);
      try {
        filter far = open(*cut, name);
        merge(far, sibling);
      } catch (const error&) {
        ++failures;
      }
      proxy.refuse(false);
      EXPECT_EQ(seen_of(all, mine), mine.size()) << i;
      merge(all, sibling);
      EXPECT_EQ(seen_of(all, mine), mine.size()) << i;
      EXPECT_EQ(seen_of(all, theirs), theirs.size()) << i;
      EXPECT_NEAR(static_cast<double>(all.info().keys), 2'500, 10) << i;
      store_->drop(name);
    }
    EXPECT_GT(failures, static_cast<int>(cuts) / 2);
  }
}

TEST_P(RedisMerge, OverALinkThatIsCutOftenItSucceedsByItself) {
  cutting_proxy proxy(server_.port());
  filter all = create("all");
  const std::vector<digest> keys = source_.take(2'000);
  filter sibling = sibling_with(all, keys);
  filter far = open(*store_at(proxy.url()), "all");
  proxy.cut_every(direction::to_server, 40'000);
  merge(far, sibling);
  EXPECT_GT(proxy.connections(), 1U);
  EXPECT_EQ(seen_of(all, keys), keys.size());
}

TEST_P(RedisMerge, FilterThatWasRebuiltSinceItWasOpenedIsOpenedAgain) {
  filter all = create("all");
  const std::vector<digest> keys = source_.take(500);
  filter sibling = sibling_with(all, keys);
  const auto rebuild = store_->begin_rebuild("all", all.get_spec(), {});
  EXPECT_THAT([&] { merge(all, sibling); }, ThrowsMessage<storage_error>(HasSubstr("rebuilt")));
  filter next = open(*store_, "all");
  merge(next, sibling);
  rebuild->commit();
  EXPECT_EQ(seen_of(open(*store_, "all"), keys), keys.size());
}

TEST_P(RedisMerge, FilterThatWasDroppedTakesNothing) {
  filter all = create("all");
  filter sibling = sibling_with(all, source_.take(500));
  store_->drop("all");
  EXPECT_THROW(merge(all, sibling), storage_error);
  EXPECT_EQ(keys_of_filters(), std::vector<std::string>());
}

}  // namespace
}  // namespace everseen::redis
