#include "everseen/core/partition/sibling.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/growth.hpp"

#include "test/support/binomial.hpp"
#include "test/support/model/exact_partition.hpp"
#include "test/support/model/partition_doubles.hpp"
#include "test/support/printing.hpp"

namespace everseen {
namespace {

using test::checked_segments;
using test::errorless;
using test::owned_batch;
using test::timed_key;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using enum verdict;

/// A partition whose segments can be given to another one.
struct sibling {
  explicit sibling(const spec& s) : rules(s), logic(rules, 0, place) {}

  void add(unsigned from, unsigned end, std::int64_t ms = 0) {
    owned_batch batch(keys(from, end, ms));
    ASSERT_TRUE(logic.add(batch.view()));
  }
  std::vector<verdict> check(unsigned from, unsigned end, std::int64_t ms = 0) const {
    owned_batch batch(keys(from, end, ms));
    (void)logic.check(batch.view());
    return batch.out;
  }
  [[nodiscard]] std::vector<sibling_segment> segments() const {
    std::vector<sibling_segment> all;
    for (const slice_state& slice : logic.state().slices)
      for (std::uint32_t i = 0; i < slice.layers.size(); ++i) {
        const segment_id id = {0, slice.index, i};
        all.push_back({id, slice.layers[i], {place.at(id), slice.layers[i].shape.bytes}});
      }
    return all;
  }
  bool merge(const sibling& other) {
    logic.must_fit(other.segments());
    const bool changes = logic.merge(other.segments());
    place.expect_described_by(logic.state(), rules.growth == growth_kind::overfill);
    return changes;
  }
  [[nodiscard]] std::vector<std::uint64_t> layer_keys() const {
    std::vector<std::uint64_t> counts;
    for (const slice_state& slice : logic.state().slices)
      for (const layer_state& layer : slice.layers) counts.push_back(layer.keys);
    return counts;
  }

  spec rules;
  checked_segments place;
  partition logic;

 private:
  static std::vector<timed_key> keys(unsigned from, unsigned end, std::int64_t ms) {
    std::vector<timed_key> some;
    for (unsigned k = from; k < end; ++k) some.push_back({k, ms});
    return some;
  }
};

TEST(Sibling, KeysOfBothAreSeenInTheUnionAndNoOthers) {
  const spec s = errorless(1000);
  sibling one(s), other(s);
  one.add(0, 300);
  other.add(200, 500);
  one.merge(other);
  EXPECT_THAT(one.check(0, 500), Each(seen));
  EXPECT_THAT(one.check(500, 2000), Each(fresh));
  EXPECT_THAT(other.check(0, 200), Each(fresh)) << "the sibling has changed";
}

TEST(Sibling, UnionHasTheBitsOfAPartitionThatWasGivenAllKeys) {
  for (const layout_kind layout : all_layouts) {
    spec_request r;
    r.capacity = 1000;
    r.layout = layout;
    if (layout == layout_kind::classic) r.probes = 9;
    r.partitions = 1;
    const spec s = make_spec(r);
    sibling one(s), other(s), both(s);
    one.add(0, 300);
    other.add(200, 500);
    both.add(0, 500);
    one.merge(other);
    const auto made = one.segments().front().bits, expected = both.segments().front().bits;
    EXPECT_TRUE(std::ranges::equal(made, expected)) << to_string(layout);
  }
}

TEST(Sibling, KeysOfBothCountOnce) {
  const spec s = errorless(10'000);
  sibling one(s), other(s);
  one.add(0, 3000);
  other.add(2000, 5000);
  one.merge(other);
  EXPECT_NEAR(static_cast<double>(one.layer_keys().front()), 5000, 5);
}

TEST(Sibling, MergingTheSameAgainChangesNothing) {
  const spec s = errorless(10'000);
  sibling one(s), other(s);
  one.add(0, 5000);
  other.add(4000, 9000);
  EXPECT_TRUE(one.merge(other));
  const partition_state once = one.logic.state();
  EXPECT_FALSE(one.merge(other));
  EXPECT_EQ(one.logic.state(), once);
}

// Promise: a union keeps its error rate, however many siblings are merged into it (guarantees, Error rate).
TEST(Sibling, ManySmallOnesCannotFillALayerBeyondItsRate) {
  for (const growth_kind growth : {growth_kind::grow, growth_kind::refuse})
    for (const layout_kind layout : all_layouts) {
      constexpr double rate = 0.01;
      spec_request r;
      r.capacity = 1000;
      r.error_rate = rate;
      r.layout = layout;
      if (layout == layout_kind::classic) r.probes = 7;
      r.growth = growth;
      r.partitions = 1;
      const spec s = make_spec(r);
      sibling one(s);
      one.add(0, 900);
      unsigned refused = 0;
      for (unsigned from = 900; from < 9900; from += 90) {
        sibling small(s);
        small.add(from, from + 90);
        try {
          one.merge(small);
        } catch (const full_error&) {
          ++refused;
        }
      }
      EXPECT_GT(refused, 90U);
      constexpr unsigned strangers = 50'000;
      const auto wrong = std::ranges::count(one.check(20'000, 20'000 + strangers), seen);
      EXPECT_LE(static_cast<std::uint64_t>(wrong), test::binomial_bound(strangers, rate))
          << to_string(layout);
    }
}

TEST(Sibling, BitsBeyondItsCountAreFoundOut) {
  const spec s = errorless(1000, growth_kind::refuse);
  sibling one(s), forged(s);
  one.add(0, 10);
  forged.add(0, 5);
  const layer_state& layer = forged.logic.state().slices.front().layers.front();
  std::fill_n(forged.place.at({0, window::timeless, 0}), layer.shape.bytes, std::byte{0xff});
  EXPECT_THROW(one.merge(forged), full_error);
  EXPECT_THAT(one.check(100, 200), Each(fresh));
}

TEST(Sibling, EmptyOnesCanBeMergedBothWays) {
  const spec s = errorless(100);
  sibling one(s), empty(s);
  one.add(0, 50);
  one.merge(empty);
  EXPECT_THAT(one.layer_keys(), ElementsAre(50));
  empty.merge(one);
  EXPECT_THAT(empty.layer_keys(), ElementsAre(50));
  EXPECT_THAT(empty.check(0, 50), Each(seen));
}

TEST(Sibling, LayersThatOnlyOneHasGrownAreMade) {
  const spec s = errorless(100);  // layers of 100, 200, 400 keys
  sibling one(s), grown(s);
  grown.add(0, 500);
  one.merge(grown);
  EXPECT_THAT(one.layer_keys(), ElementsAre(100, 200, 200));
  EXPECT_THAT(one.check(0, 500), Each(seen));
  one.add(500, 700);
  EXPECT_THAT(one.layer_keys(), ElementsAre(100, 200, 400))
      << "it grows on as a partition of that many layers";
}

// Promise: a union with more keys than its error rate allows is refused before anything changes (guarantees,
// Error rate).
TEST(Sibling, MoreKeysThanALayerMayHaveAreRefusedBeforeAnythingChanges) {
  for (const growth_kind growth : {growth_kind::grow, growth_kind::refuse}) {
    const spec s = errorless(1000, growth);
    sibling one(s), other(s);
    one.add(0, 700);
    other.add(700, 1400);
    const partition_state before = one.logic.state();
    EXPECT_THAT([&] { one.logic.must_fit(other.segments()); },
                ThrowsMessage<full_error>(HasSubstr("instead of at most 1000")));
    EXPECT_EQ(one.logic.state(), before);
    EXPECT_THAT(one.check(700, 1400), Each(fresh));
  }
}

TEST(Sibling, FullOneIsTakenByAnEmptyOne) {
  for (const double rate : {0.2, 0.01, 1e-6})
    for (unsigned from = 0; from < 20'000; from += 1000) {
      spec_request r;
      r.capacity = 1000;
      r.error_rate = rate;
      r.growth = growth_kind::refuse;
      r.partitions = 1;
      const spec s = make_spec(r);
      sibling empty(s), full(s);
      full.add(from, from + 950);  // all fresh, or almost
      const std::vector<std::uint64_t> keys = full.layer_keys();
      EXPECT_TRUE(empty.merge(full)) << from;
      EXPECT_EQ(empty.layer_keys(), keys);
    }
}

TEST(Sibling, FullOnesWithTheSameKeysCanBeMerged) {
  const spec s = errorless(1000, growth_kind::refuse);
  sibling one(s), other(s);
  one.add(0, 1000);
  other.add(0, 1000);
  one.merge(other);
  EXPECT_THAT(one.layer_keys(), ElementsAre(1000));
}

TEST(Sibling, PartitionsThatMayBeOverfilledTakeAnyNumber) {
  const spec s = errorless(1000, growth_kind::overfill);
  sibling one(s), other(s);
  one.add(0, 700);
  other.add(700, 1400);
  one.merge(other);
  EXPECT_NEAR(static_cast<double>(one.layer_keys().front()), 1400, 14);
  EXPECT_THAT(one.check(0, 1400), Each(seen));
}

TEST(Sibling, ItsSlicesMoveTheWindowAsItsKeysWould) {
  const spec s = errorless(100, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4});
  sibling one(s), later(s);
  one.add(0, 10, 50);
  one.add(10, 20, 450);
  later.add(20, 30, 550);
  one.merge(later);
  EXPECT_THAT(one.check(10, 30, 550), Each(seen));
  EXPECT_THAT(one.check(0, 10, 550), Each(fresh)) << "their slice has left the window";
  EXPECT_THAT(one.check(0, 10, 50), Each(late));
}

TEST(Sibling, ItsLateSlicesAreLeftOut) {
  const spec s = errorless(100, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4});
  sibling one(s), earlier(s);
  one.add(0, 10, 1000);
  earlier.add(10, 20, 100);
  earlier.add(20, 30, 900);
  one.merge(earlier);
  EXPECT_THAT(one.check(10, 20, 1000), Each(fresh));
  EXPECT_THAT(one.check(20, 30, 1000), Each(seen));
  EXPECT_EQ(one.logic.state().slices.size(), 2U);
}

TEST(Sibling, SeveralAreMergedInOneStepOrNotAtAll) {
  const spec s = errorless(1000);
  sibling one(s), a(s), b(s), c(s);
  one.add(0, 100);
  a.add(50, 300);
  b.add(250, 600);
  c.add(600, 1600);
  const auto segments_of = [](std::initializer_list<const sibling*> all) {
    std::vector<sibling_segment> segments;
    for (const sibling* each : all) std::ranges::copy(each->segments(), std::back_inserter(segments));
    std::ranges::stable_sort(segments, {}, &sibling_segment::id);
    return segments;
  };
  EXPECT_THROW(one.logic.must_fit(segments_of({&a, &b, &c})), full_error);
  EXPECT_THAT(one.layer_keys(), ElementsAre(100));
  one.logic.merge(segments_of({&a, &b}));
  EXPECT_NEAR(static_cast<double>(one.layer_keys().front()), 600, 6);
  EXPECT_THAT(one.check(0, 600), Each(seen));
  EXPECT_THAT(one.check(600, 1600), Each(fresh));
}

TEST(Sibling, OutOfMemoryLeavesWhatIsMergedComplete) {
  const spec s = errorless(100);
  sibling one(s), grown(s);
  grown.add(0, 500);
  one.place.fail_at(1, true);
  EXPECT_THROW(one.logic.merge(grown.segments()), std::bad_alloc);
  one.place.expect_described_by(one.logic.state(), false);
  one.merge(grown);
  EXPECT_THAT(one.check(0, 500), Each(seen));
}

TEST(Sibling, SegmentsOfAnotherSizeAreRefused) {
  sibling one(errorless(100)), other(errorless(200));
  other.add(0, 10);
  EXPECT_THROW(one.logic.merge(other.segments()), parameter_error);
  EXPECT_THAT([&] { one.logic.must_fit(other.segments()); },
              ThrowsMessage<parameter_error>(HasSubstr("size of layer 0")));
}

TEST(Sibling, EveryPropertyButTheJudgeMustBeTheSame) {
  const spec s = errorless(100, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4}, 3);
  const auto differing = [&s](const std::function<void(spec&)>& change) {
    spec other = s;
    change(other);
    try {
      must_be_siblings(s, other);
    } catch (const parameter_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(differing([](spec& o) { o.judge = judge_kind::client; }), "");
  EXPECT_THAT(differing([](spec& o) { o.seed[3] ^= 1; }), HasSubstr("secret seed"));
  EXPECT_THAT(differing([](spec& o) { o.capacity = 101; }), HasSubstr("capacity"));
  EXPECT_THAT(differing([](spec& o) { o.error_rate *= 2; }), HasSubstr("error rate"));
  EXPECT_THAT(differing([](spec& o) { o.hash = hash_kind::siphash; }), HasSubstr("hash"));
  EXPECT_THAT(differing([](spec& o) { o.layout = layout_kind::classic; }), HasSubstr("layout"));
  EXPECT_THAT(differing([](spec& o) { o.partitions = 4; }), HasSubstr("partitions"));
  EXPECT_THAT(differing([](spec& o) { o.window->slices = 5; }), HasSubstr("window"));
  EXPECT_THAT(differing([](spec& o) { o.growth = growth_kind::refuse; }), HasSubstr("growth"));
  EXPECT_THAT(differing([](spec& o) { o.foreign.expansion = 2; }), HasSubstr("system"));
}

/// A partition that follows a journal, as the next client does.
struct follower {
  explicit follower(const spec& s) : rules(s), logic(rules, 0, place) {}
  spec rules;
  checked_segments place;
  partition logic;
};

/// As the next client reads it.
journal_record written_and_read(const journal_record& r) {
  std::string bytes;
  (void)append_record(bytes, r);
  const auto read = journal_reader(bytes).next();
  EXPECT_EQ(read, r);
  return *read;
}

TEST(Sibling, RecordsOfAMergeMakeTheSamePartitionAsMergingAtOnce) {
  for (const std::size_t most : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20})
    for (const bool windowed : {false, true}) {
      spec s = errorless(1000);
      if (windowed) s = errorless(1000, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4});
      sibling at_once(s), first(s), second(s);
      at_once.add(50, 100, 50);
      first.add(50, 1350, 150);  // two layers
      second.add(600, 800, 350);
      first.add(50, 60, 50);
      std::vector<sibling_segment> both = first.segments();
      std::ranges::copy(second.segments(), std::back_inserter(both));
      std::ranges::stable_sort(both, {}, &sibling_segment::id);
      follower one(s), other(s);
      owned_batch keys([&] {
        std::vector<timed_key> some;
        for (unsigned k = 50; k < 100; ++k) some.push_back({k, 50});
        return some;
      }());
      ASSERT_TRUE(one.logic.add(keys.view()));
      ASSERT_TRUE(other.logic.add(keys.view()));
      ASSERT_NO_THROW(one.logic.must_fit(both));
      std::size_t records = 0;
      for (;; ++records) {
        const journal_record r = one.logic.next_merge(both, most);
        if (r.pieces.empty()) break;
        const journal_record read = written_and_read(r);
        one.logic.apply(read);
        other.logic.apply(read);
        EXPECT_EQ(one.logic.state(), other.logic.state());
      }
      at_once.logic.merge(both);
      EXPECT_EQ(one.logic.state(), at_once.logic.state());
      for (const sibling_segment& each : at_once.segments())
        for (follower* const f : {&one, &other}) {
          const std::span<const std::byte> made(f->place.at(each.id), each.bits.size());
          EXPECT_TRUE(std::ranges::equal(made, each.bits));
        }
      EXPECT_EQ(records == 1, most == std::size_t{1} << 20) << records;
    }
}

TEST(Sibling, FirstRecordOfAMergeTakesTheRoomForAllKeys) {
  const spec s = errorless(1000, growth_kind::refuse);
  sibling one(s), theirs(s);
  one.add(0, 300);
  theirs.add(300, 900);
  one.logic.apply(one.logic.next_merge(theirs.segments(), 200));
  EXPECT_NEAR(static_cast<double>(one.layer_keys().front()), 900, 5);
  owned_batch more([] {
    std::vector<timed_key> some;
    for (unsigned k = 2000; k < 2200; ++k) some.push_back({k, 0});
    return some;
  }());
  const batch_result added = one.logic.add(more.view());
  ASSERT_FALSE(added) << "beyond the error rate";
  EXPECT_NEAR(static_cast<double>(added.error().done.fresh), 100, 5);
  for (;;) {
    const journal_record r = one.logic.next_merge(theirs.segments(), 200);
    if (r.pieces.empty()) break;
    one.logic.apply(r);
  }
  EXPECT_THAT(one.check(0, 900), Each(seen));
  EXPECT_THAT(one.layer_keys(), ElementsAre(1000));
}

// Promise: merges at the same time do not exceed the error rate together (guarantees, Error rate).
TEST(Sibling, OfTwoMergesAtOnceOneIsRefusedWhereThereIsRoomForOne) {
  const spec s = errorless(1000, growth_kind::refuse);
  sibling one(s), first(s), second(s);
  first.add(0, 600);
  second.add(1000, 1600);
  ASSERT_NO_THROW(one.logic.must_fit(first.segments()));
  std::vector<const sibling*> merging{&first, &second};
  std::size_t refused = 0;
  while (!merging.empty())
    std::erase_if(merging, [&](const sibling* const theirs) {
      try {
        const journal_record r = one.logic.next_merge(theirs->segments(), 200);
        if (r.pieces.empty()) return true;
        one.logic.apply(r);
        return false;
      } catch (const full_error&) {
        ++refused;
        return true;
      }
    });
  EXPECT_GE(refused, 1U);
  EXPECT_FALSE(sizing::is_more_than_chance(union_of(one.segments()).keys, 1020));
}

TEST(Sibling, RecordOfAnotherPartitionsMergeIsRefused) {
  const spec s = errorless(1000);
  const auto refused = [&](journal_record::piece piece) {
    sibling one(s);
    one.add(0, 10);
    const journal_record r{.pieces = {std::move(piece)}};
    EXPECT_THROW(one.logic.apply(r), format_error);
  };
  const std::uint64_t bytes = growth::plan_layer(s, 0).shape.bytes;
  refused({0, 0, 10, bytes - 1, "xx"});
  refused({0, 0, 10, ~std::uint64_t{0}, "x"});
  refused({0, 0, 9, 0, "x"});
  refused({0, 0, 1001, 0, "x"});
  refused({0, 41, 1, 0, "x"});
  refused({0, ~std::uint32_t{0}, 1, 0, "x"});
}

}  // namespace
}  // namespace everseen
