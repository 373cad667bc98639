// Merging siblings into a filter on Redis: connections that are cut, rebuilds meanwhile, and what is left.

#include <array>
#include <chrono>
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
using test::check_keys;
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

INSTANTIATE_TEST_SUITE_P(Judged, RedisMerge, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

TEST_P(RedisMerge, LeavesNothingBesideTheFilter) {
  filter all = create("all");
  const std::vector<digest> keys = source_.take(1'000);
  merge(all, sibling_with(all, keys));
  merge(all, sibling_with(all, {}));
  EXPECT_EQ(seen_of(all, keys), keys.size());
  EXPECT_THAT(keys_like(server_, "everseen:{*/*}:s*"), testing::IsEmpty());
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
  proxy.cut_every(direction::to_server, 25'000);
  filter far = open(*store_at(proxy.url()), "all");
  merge(far, sibling);
  EXPECT_GT(proxy.connections(), 1U);
  EXPECT_EQ(seen_of(all, keys), keys.size());
}

TEST_P(RedisMerge, LargeOneArrivesOverALinkThatIsCutOften) {
  cutting_proxy proxy(server_.port());
  spec s = spec_of({.capacity = 100'000, .error_rate = 1e-9, .partitions = 1});
  s.seed = hash_seed{1, 2, 3};
  filter all("all", store_->create("all", s));
  const std::vector<digest> mine = source_.take(1'000), theirs = source_.take(90'000);
  filter sibling = sibling_with(all, theirs);
  ASSERT_TRUE(add_keys(all.stored(), mine).result);
  proxy.cut_every(direction::to_server, 100'000);
  filter far = open(*store_at(proxy.url()), "all");
  merge(far, sibling);
  proxy.cut_every(direction::to_server, 0);
  EXPECT_GT(proxy.connections(), 3U);
  EXPECT_EQ(seen_of(all, mine), mine.size());
  EXPECT_EQ(seen_of(all, theirs), theirs.size());
  EXPECT_NEAR(static_cast<double>(all.info().keys), 91'000, 91);
}

/// A segment that is full by count may nevertheless lack a few keys of a sibling that fit.
TEST_P(RedisMerge, BitsThatDoNotChangeACountAreKept) {
  using namespace std::chrono_literals;
  const auto minute = [](int m) { return event_time(m * 1min); };
  for (std::uint64_t seed = 1;; ++seed) {
    ASSERT_LT(seed, 50U) << "no segment has as few bits as wanted";
    spec s = spec_of({.capacity = 300'000,
                      .error_rate = 1e-3,
                      .hash = hash_kind::xxh3,
                      .growth = growth_kind::refuse,
                      .window = window_spec{3min, 3},
                      .partitions = 1});
    s.seed = hash_seed{static_cast<std::uint8_t>(seed)};
    filter all("all", store_->create("all", s));
    const auto fill = [&](int slice) { (void)add_keys(all.stored(), source_.take(200'000), minute(slice)); };
    const auto begin = [&] { return server_.run({"HGET", state_of(server_, "all"), "begin"}); };
    fill(1);
    const std::string partly = GetParam() == judges::clients ? begin() : "";
    fill(2);  // with a checkpoint
    const partition_state full = all.stored().state(0);
    ASSERT_EQ(full.slices.front().layers.front().keys, full.slices.front().layers.front().capacity);
    const std::vector<digest> one = source_.take(1);
    filter sibling("one", memory_store().create("one", s));
    ASSERT_TRUE(add_keys(sibling.stored(), one, minute(1)).result);
    const bool is_new = check_keys(all.stored(), one, minute(1)).verdicts.front() == verdict::fresh;
    bool is_taken = is_new;
    try {
      if (is_new) merge(all, sibling);
    } catch (const full_error&) {
      is_taken = false;
    }
    if (is_taken) {
      EXPECT_EQ(all.stored().state(0), full);
      const std::string before = GetParam() == judges::clients ? begin() : "";
      fill(3);
      if (GetParam() == judges::clients) {
        EXPECT_NE(before, partly) << "no checkpoint";
        EXPECT_NE(begin(), before) << "no checkpoint";
      }
      EXPECT_EQ(check_keys(*client("all"), one, minute(3)).verdicts.front(), verdict::seen);
      return;
    }
    store_->drop("all");
  }
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
