// Tests for merging siblings into a filter, in every store. Included after any_store_suite.hpp.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/filter/any_store_suite.hpp"
#include "test/support/binomial.hpp"

namespace everseen::any_store {

/// An exact set beside a filter: both get the same keys.
class AnyStoreMerge : public AnyStore {
 protected:
  using key_list = std::vector<std::string>;

  static key_list numbers(unsigned from, unsigned end) {
    key_list keys;
    for (unsigned k = from; k < end; ++k) keys.push_back("key " + std::to_string(k));
    return keys;
  }
  /// How many were fresh.
  static std::uint64_t add(filter& f, const key_list& keys, std::span<const event_time> times = {}) {
    std::vector<verdict> out(keys.size());
    const batch_result added = f.add(keys, out, times);
    EXPECT_TRUE(added) << added.error().message;
    return added ? added->fresh : 0;
  }
  static std::uint64_t seen_of(const filter& f, const key_list& keys,
                               std::span<const event_time> times = {}) {
    std::vector<verdict> out(keys.size());
    const batch_result asked = f.may_contain(keys, out, times);
    EXPECT_TRUE(asked) << asked.error().message;
    return asked ? asked->seen : 0;
  }
  static void merge(filter& into, const filter& sibling) { into.merge(std::span(&sibling, 1)); }

  filter create(const std::string& name, spec_request request) {
    request.seed = hash_seed{4, 5, 6};
    request.judge = judged_by;
    if (!request.partitions) request.partitions = 3;
    return {name, store_->create(name, make_spec(request))};
  }
  filter sibling_of(const filter& f) {
    const std::string name = "sibling " + std::to_string(++siblings_);
    return {name, memory_.create(name, f.sibling_spec())};
  }

 private:
  memory_store memory_;
  int siblings_ = 0;
};

// Promise: merged siblings have all keys of both and keep their error rate (guarantees, Error rate).
TEST_P(AnyStoreMerge, KeysOfAllAreSeenAndNoOthers) {
  for (const layout_kind layout : all_layouts) {
    spec_request r{.capacity = 4000, .error_rate = 1e-9, .layout = layout};
    if (layout == layout_kind::classic) r.probes = 25;
    if (is_foreign(layout)) r.partitions = 1;
    filter all = create(std::string(to_string(layout)), r);
    filter a = sibling_of(all), b = sibling_of(all);
    add(all, numbers(0, 1000));
    add(a, numbers(500, 2000));
    add(b, numbers(1500, 3000));
    const std::vector<filter> both = {a, b};
    all.merge(both);
    EXPECT_EQ(seen_of(all, numbers(0, 3000)), 3000U) << to_string(layout);
    EXPECT_EQ(seen_of(all, numbers(3000, 5000)), 0U) << to_string(layout);
    EXPECT_EQ(seen_of(a, numbers(0, 500)), 0U) << "a sibling has changed";
    EXPECT_NEAR(static_cast<double>(all.info().keys), 3000, 15) << to_string(layout);
    EXPECT_EQ(add(all, numbers(2500, 3500)), 500U) << to_string(layout);
  }
}

// Promise: merged siblings have all keys of both and keep their error rate (guarantees, Error rate).
TEST_P(AnyStoreMerge, UnionKeepsItsErrorRate) {
  constexpr double rate = 0.01;
  constexpr unsigned strangers = 40'000;
  filter all = create("all", {.capacity = 20'000, .error_rate = rate});
  for (unsigned from = 0; from < 20'000; from += 4000) {
    filter part = sibling_of(all);
    add(part, numbers(from, from + 3900));
    merge(all, part);
  }
  EXPECT_EQ(all.info().max_layers, 1U);
  const std::uint64_t wrong = seen_of(all, numbers(100'000, 100'000 + strangers));
  EXPECT_LE(wrong, test::binomial_bound(strangers, rate));
  EXPECT_GE(wrong, test::binomial_floor(strangers, all.info().error_rate_now));
}

TEST_P(AnyStoreMerge, LayersThatOnlyASiblingHasAreMadeAndGrowOn) {
  filter all = create("all", {.capacity = 300, .error_rate = 1e-9});
  filter grown = sibling_of(all);
  add(grown, numbers(0, 2000));
  add(all, numbers(0, 100));
  EXPECT_GT(grown.info().max_layers, 2U);
  merge(all, grown);
  EXPECT_EQ(all.info().max_layers, grown.info().max_layers);
  EXPECT_EQ(seen_of(all, numbers(0, 2000)), 2000U);
  EXPECT_EQ(add(all, numbers(1000, 4000)), 2000U);
  EXPECT_EQ(seen_of(open(*store_, "all", access::read), numbers(0, 4000)), 4000U);
  EXPECT_EQ(seen_of(all, numbers(4000, 6000)), 0U);
}

TEST_P(AnyStoreMerge, EmptyOneTakesAFullOneAndItsCounts) {
  filter all = create("all", {.capacity = 5000, .growth = growth_kind::refuse});
  filter full = sibling_of(all);
  add(full, numbers(0, 4700));
  merge(all, full);
  EXPECT_EQ(all.info().keys, full.info().keys);
}

TEST_P(AnyStoreMerge, MergingTheSameAgainChangesNothing) {
  filter all = create("all", {.capacity = 3000});
  filter part = sibling_of(all);
  add(all, numbers(0, 900));
  add(part, numbers(700, 2000));
  merge(all, part);
  const std::vector<partition_state> once = all.info().partitions;
  merge(all, part);
  EXPECT_EQ(all.info().partitions, once);
  merge(all, all);
  EXPECT_EQ(all.info().partitions, once);
}

// Promise: a union with more keys than its error rate allows is refused before anything changes (guarantees,
// Error rate).
TEST_P(AnyStoreMerge, MoreKeysThanTheErrorRateAllowsAreRefusedBeforeAnythingChanges) {
  for (const growth_kind growth : {growth_kind::grow, growth_kind::refuse}) {
    const std::string name = growth == growth_kind::grow ? "grows" : "refuses";
    filter all = create(name, {.capacity = 1500, .growth = growth});
    filter part = sibling_of(all);
    add(all, numbers(0, 1000));
    add(part, numbers(1000, 2000));
    const std::vector<partition_state> before = all.info().partitions;
    EXPECT_THAT([&] { merge(all, part); }, testing::ThrowsMessage<full_error>(testing::AllOf(
                                               testing::HasSubstr("do not fit into '" + name + "'"),
                                               testing::HasSubstr("keys instead of at most"))));
    EXPECT_EQ(all.info().partitions, before);
    EXPECT_EQ(seen_of(all, numbers(1000, 2000)), 0U);
  }
}

TEST_P(AnyStoreMerge, FilterOfTheSameStoreIsASiblingToo) {
  filter all = create("all", {.capacity = 3000, .error_rate = 1e-9});
  filter part("part", store_->create("part", all.sibling_spec()));
  add(all, numbers(0, 900));
  add(part, numbers(700, 2000));
  merge(all, part);
  EXPECT_EQ(seen_of(all, numbers(0, 2000)), 2000U);
  EXPECT_EQ(seen_of(part, numbers(0, 700)), 0U);
  EXPECT_THAT(store_->list(), testing::ElementsAre("all", "part")) << "something was left";
}

TEST_P(AnyStoreMerge, SlicesOfASiblingMoveTheWindowAsTheirKeysWould) {
  filter all = create("all", {.capacity = 3000, .error_rate = 1e-9, .window = window_spec{40s, 4}});
  filter part = sibling_of(all);
  // Stores may refuse times in the future.
  const auto present =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto ago = [&](std::chrono::seconds age) { return std::vector<event_time>{present - age}; };
  add(all, numbers(0, 100), ago(100s));
  add(part, numbers(100, 200), ago(25s));
  add(part, numbers(200, 300), ago(5s));
  merge(all, part);
  EXPECT_EQ(seen_of(all, numbers(100, 300), ago(5s)), 200U);
  EXPECT_EQ(seen_of(all, numbers(0, 100), ago(5s)), 0U) << "their slice has left the window";
  filter late = sibling_of(all);
  add(late, numbers(300, 400), ago(200s));
  merge(all, late);
  EXPECT_EQ(seen_of(all, numbers(300, 400), ago(5s)), 0U);
  EXPECT_EQ(seen_of(all, numbers(100, 300), ago(5s)), 200U);
}

TEST_P(AnyStoreMerge, FilterThatWasOpenedForReadingTakesNothing) {
  if (std::string_view(GetParam().name) == "memory") return;        // it has no readers
  const spec s = create("all", {.capacity = 3000}).sibling_spec();  // files have one writer
  filter part("part", memory_store().create("part", s));
  add(part, numbers(0, 10));
  filter reader = open(*store_, "all", access::read);
  EXPECT_THAT([&] { merge(reader, part); },
              testing::ThrowsMessage<parameter_error>(testing::HasSubstr("opened for reading")));
}

TEST_P(AnyStoreMerge, KeysAddedMeanwhileAreKept) {
  filter all = create("all", {.capacity = 60'000, .error_rate = 1e-9});
  filter part = sibling_of(all);
  const key_list mine = numbers(0, 20'000), theirs = numbers(20'000, 40'000);
  add(part, theirs);
  std::thread adder([&] {
    filter other = store_->traits().is_remote ? open(*store_, "all") : all;  // files have one writer
    for (unsigned i = 0; i < 20'000; i += 500) add(other, numbers(i, i + 500));
  });
  for (int i = 0; i < 3; ++i) merge(all, part);
  adder.join();
  EXPECT_EQ(seen_of(all, mine), mine.size());
  EXPECT_EQ(seen_of(all, theirs), theirs.size());
  EXPECT_NEAR(static_cast<double>(all.info().keys), 40'000, 40);
}

}  // namespace everseen::any_store
