// Tests for every store. Each test file that instantiates it for some kinds of store includes it once:
//
//     INSTANTIATE_TEST_SUITE_P(Kinds, AnyStore, testing::ValuesIn(kinds), name_of_kind);

#pragma once

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/stream_image.hpp"
#include "everseen/open_store.hpp"

#include "test/support/model/lockstep.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::any_store {

using namespace test;
using namespace std::chrono_literals;

struct kind {
  const char* name;
  std::function<std::string(const std::filesystem::path&)>
      url;  ///< of an empty store, given an empty directory
  judge_kind judge = judge_kind::server;
};

inline void PrintTo(const kind& k, std::ostream* out) {
  *out << k.name;
}

inline std::string name_of_kind(const testing::TestParamInfo<kind>& one) {
  return one.param.name;
}

/// The kind under test. Specs depend on it, and the helpers that make them have no access to the test.
inline judge_kind judged_by = judge_kind::server;

class AnyStore : public testing::TestWithParam<kind> {
 protected:
  AnyStore() { judged_by = GetParam().judge; }

  scratch_directory scratch_;
  std::shared_ptr<store> store_ = open_store(GetParam().url(scratch_.path()));
};

inline spec spec_of(spec_request request) {
  request.seed = hash_seed{};
  request.judge = judged_by;
  if (!request.partitions) request.partitions = 3;
  return make_spec(request);
}

inline event_time at(std::chrono::milliseconds t) {
  return event_time(t);
}

struct copied_segment {
  segment_id id;
  layer_state layer;
  std::vector<std::byte> bits;
  friend bool operator==(const copied_segment&, const copied_segment&) = default;
};

inline std::vector<copied_segment> segments_of(const stored_filter& filter) {
  std::vector<copied_segment> all;
  for (std::uint32_t p = 0; p < filter.get_spec().partitions; ++p)
    filter.visit_segments(
        p, [&](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
          all.push_back({id, layer, {bits.begin(), bits.end()}});
        });
  return all;
}

/// Equal except for the counts, which a restore may raise by the error of an estimate from the bits.
inline void expect_copy(std::vector<copied_segment> copy, const std::vector<copied_segment>& original) {
  ASSERT_EQ(copy.size(), original.size());
  for (std::size_t i = 0; i < copy.size(); ++i) {
    const std::uint64_t keys = original[i].layer.keys;
    EXPECT_GE(copy[i].layer.keys, keys);
    EXPECT_LE(copy[i].layer.keys, keys + keys / 5 + 5);
    copy[i].layer.keys = keys;
  }
  EXPECT_EQ(copy, original);
}

inline void restore_into(store& place, std::string_view name, const stored_filter& from) {
  const auto target = place.begin_restore(name, from.get_spec());
  for (const copied_segment& segment : segments_of(from))
    std::memcpy(target->add_segment(segment.id, segment.layer).data(), segment.bits.data(),
                segment.bits.size());
  target->commit();
}

TEST_P(AnyStore, IsEmptyAtFirst) {
  EXPECT_TRUE(store_->list().empty());
  EXPECT_FALSE(store_->exists("a"));
}

TEST_P(AnyStore, ListsCreatedFiltersInOrder) {
  for (const char* name : {"b", "a", "A.b_c-9"}) (void)store_->create(name, spec_of({.capacity = 100}));
  EXPECT_EQ(store_->list(), (std::vector<std::string>{"A.b_c-9", "a", "b"}));
  EXPECT_TRUE(store_->exists("b"));
}

TEST_P(AnyStore, RefusesToCreateAnExistingName) {
  const auto first = store_->create("a", spec_of({.capacity = 100}));
  EXPECT_THROW(store_->create("a", spec_of({.capacity = 100})), parameter_error);
  EXPECT_THROW(store_->begin_restore("a", spec_of({.capacity = 100})), parameter_error);
}

TEST_P(AnyStore, RefusesToOpenOrDropAMissingFilter) {
  EXPECT_THROW(store_->open("a", access::read), parameter_error);
  EXPECT_THROW(store_->open("a", access::write), parameter_error);
  EXPECT_THROW(store_->drop("a"), parameter_error);
}

TEST_P(AnyStore, RefusesInvalidNames) {
  for (const std::string& name : {std::string(), std::string(1025, 'n')}) {
    EXPECT_THROW(store_->create(name, spec_of({.capacity = 100})), parameter_error);
    EXPECT_THROW(store_->begin_restore(name, spec_of({.capacity = 100})), parameter_error);
    EXPECT_FALSE(store_->exists(name));
  }
}

// Promise: a filter may have any bytes as its name (operations, Names).
TEST_P(AnyStore, AcceptsAnyBytesAsANameAndListsThem) {
  std::vector<std::string> names = {std::string("\0", 1),
                                    "\n",
                                    ".",
                                    "..",
                                    "../a",
                                    "/etc",
                                    "-a",
                                    "a b",
                                    "\xff",
                                    "!",
                                    "~",
                                    "!00000000000000000000000000000000",
                                    "日志",
                                    "a",
                                    "a.new",
                                    "%41",
                                    "A",
                                    std::string(1024, 'x'),
                                    std::string(1023, 'x') + '\0'};
  for (const std::string& name : names) {
    const auto made = store_->create(name, spec_of({.capacity = 100}));
    EXPECT_EQ(tally_of(add_keys(*made, random_digests(1).take(1))).fresh, 1u);
  }
  std::ranges::sort(names);
  EXPECT_EQ(store_->list(), names);
  for (const std::string& name : names) {
    EXPECT_TRUE(store_->exists(name));
    EXPECT_EQ(keys_in(*store_->open(name, access::read)), 1u);
    store_->drop(name);
    EXPECT_FALSE(store_->exists(name));
  }
  EXPECT_THAT(store_->list(), testing::IsEmpty());
}

TEST_P(AnyStore, ReturnsTheSpec) {
  const spec s = spec_of(
      {.capacity = 1234, .error_rate = 1e-4, .hash = hash_kind::siphash, .window = window_spec{60s, 4}});
  EXPECT_EQ(store_->create("a", s)->get_spec(), s);
  EXPECT_EQ(store_->open("a", access::read)->get_spec(), s);
}

TEST_P(AnyStore, DroppedFilterIsGoneAndItsNameIsFree) {
  store_->create("a", spec_of({.capacity = 100})).reset();
  store_->drop("a");
  EXPECT_FALSE(store_->exists("a"));
  const auto again = store_->create("a", spec_of({.capacity = 100}));
  EXPECT_EQ(keys_in(*again), 0u);
}

TEST_P(AnyStore, ResetRemovesEverythingExceptTheSpec) {
  const spec s = spec_of({.capacity = 300, .error_rate = 1e-9});
  const auto keys = random_digests(21).take(900);
  ASSERT_TRUE(add_keys(*store_->create("a", s), keys).result);
  store_->reset("a");
  const auto again = store_->open("a", access::write);
  EXPECT_EQ(again->get_spec(), s);
  EXPECT_EQ(keys_in(*again), 0u);
  EXPECT_TRUE(segments_of(*again).empty());
  EXPECT_EQ(tally_of(add_keys(*again, keys)).fresh, keys.size());
}

// Promise: a reset is seen by clients that have the filter open, in every store (guarantees, Stores).
TEST_P(AnyStore, ResetIsSeenByClientsThatHaveTheFilterOpen) {
  const spec s = spec_of({.capacity = 300, .error_rate = 1e-9});
  const auto keys = random_digests(22).take(900);
  ASSERT_TRUE(add_keys(*store_->create("a", s), keys).result);
  const auto reader = store_->open("a", access::read);
  ASSERT_EQ(tally_of(check_keys(*reader, keys)).seen, keys.size());
  store_->reset("a");
  EXPECT_EQ(tally_of(check_keys(*reader, keys)).fresh, keys.size());
  const auto others = random_digests(23).take(900);
  ASSERT_TRUE(add_keys(*store_->open("a", access::write), others).result);
  EXPECT_EQ(tally_of(check_keys(*reader, keys)).fresh, keys.size()) << "no old bits under the new names";
  EXPECT_EQ(tally_of(check_keys(*reader, others)).seen, others.size());
}

TEST_P(AnyStore, ResetRestartsTheWindow) {
  const auto filter =
      store_->create("a", spec_of({.capacity = 300, .error_rate = 1e-9, .window = window_spec{60s, 3}}));
  const auto keys = random_digests(24).take(30);
  ASSERT_TRUE(add_keys(*filter, keys, at(1h)).result);
  EXPECT_EQ(tally_of(add_keys(*filter, keys, at(0s))).late, keys.size());
  if (std::string_view(GetParam().name).starts_with("file"))
    return;  // which refuses a reset while it has a writer
  store_->reset("a");
  // A client that judges by itself notices it within a second, or when it looks up a key.
  if (judged_by == judge_kind::client) answered(check_keys(*filter, keys, at(0s)));
  EXPECT_EQ(tally_of(add_keys(*filter, keys, at(0s))).fresh, keys.size());
}

TEST_P(AnyStore, ResetOfAMissingFilterIsRefused) {
  EXPECT_THROW(store_->reset("a"), parameter_error);
}

TEST_P(AnyStore, AnswersAsAnExactSetInEveryLayout) {
  for (const layout_kind layout : all_layouts) {
    lockstep both(store_->create(std::string("f-") + std::string(to_string(layout)),
                                 spec_of({.capacity = 5'000, .error_rate = 0.001, .layout = layout})));
    random_digests source(7);
    for (int batch = 0; batch < 10; ++batch) {
      const auto keys = source.take(500);
      both.check(keys);
      both.add(keys);
      both.check(keys);
    }
    both.expect_error_rate();
  }
}

TEST_P(AnyStore, OfAKeyTwiceInABatchTheFirstIsFresh) {
  const auto filter = store_->create("a", spec_of({.capacity = 1000, .error_rate = 1e-9}));
  const auto once = random_digests(1).take(50);
  std::vector<digest> keys;
  for (const digest& d : once) keys.insert(keys.end(), {d, d});
  const answers got = add_keys(*filter, keys);
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(got.verdicts[i], i % 2 == 0 ? verdict::fresh : verdict::seen);
}

TEST_P(AnyStore, AddsTheKeysOfABatchOnceItsEffectIsDone) {
  auto filter = store_->create("a", spec_of({.capacity = 1'000, .error_rate = 1e-12}));
  const auto keys = random_digests(4).take(20);
  if (!filter->adds_after_effects()) {
    EXPECT_THROW((void)add_keys_after(*filter, keys, [] { return true; }), parameter_error);
    return;
  }
  ASSERT_TRUE(add_keys(*filter, std::span(keys).first(5)).result);
  const auto added = add_keys_after(*filter, keys, [] { return true; });
  EXPECT_EQ(added.result, (tally{.fresh = 15, .seen = 5}));
  EXPECT_EQ(check_keys(*filter, keys).result, tally{.seen = 20});
  EXPECT_EQ(keys_in(*filter), 20U);
}

TEST_P(AnyStore, AddsNoKeyOfABatchWhoseEffectFailed) {
  auto filter = store_->create("a", spec_of({.capacity = 1'000, .error_rate = 1e-12}));
  if (!filter->adds_after_effects()) return;
  const auto keys = random_digests(4).take(20);
  EXPECT_EQ(add_keys_after(*filter, keys, [] { return false; }).result, tally{.fresh = 20});
  EXPECT_THROW((void)add_keys_after(*filter, keys, []() -> bool { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(check_keys(*filter, keys).result, tally{.fresh = 20});
  EXPECT_EQ(keys_in(*filter), 0U);
}

TEST_P(AnyStore, GrowsFarPastItsFirstCapacity) {
  lockstep both(store_->create("a", spec_of({.capacity = 300, .error_rate = 0.001})));
  random_digests source(3);
  for (int batch = 0; batch < 20; ++batch) both.add(source.take(500));
  EXPECT_GT(both.filter().state(0).slices.at(0).layers.size(), 3u);
  both.expect_error_rate();
}

TEST_P(AnyStore, FullFilterWithoutGrowthRefusesAndKeepsItsKeys) {
  const auto filter = store_->create(
      "a", spec_of({.capacity = 100, .error_rate = 1e-9, .growth = growth_kind::refuse, .partitions = 1}));
  const auto keys = random_digests(4).take(150);
  const answers got = add_keys(*filter, keys);
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::full);
  EXPECT_EQ(got.result.error().done, (tally{.fresh = 100, .unknown = 50}));
  const answers after = check_keys(*filter, keys);
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(after.verdicts[i], i < 100 ? verdict::seen : verdict::fresh) << i;
}

TEST_P(AnyStore, OverfilledFilterContinuesAndForgetsNothing) {
  const auto filter =
      store_->create("a", spec_of({.capacity = 100, .error_rate = 0.01, .growth = growth_kind::overfill}));
  const auto keys = random_digests(4).take(2'000);
  ASSERT_TRUE(add_keys(*filter, keys).result);
  for (const verdict v : answered(check_keys(*filter, keys)).verdicts) EXPECT_EQ(v, verdict::seen);
  EXPECT_EQ(filter->state(0).slices.at(0).layers.size(), 1u);
}

TEST_P(AnyStore, WindowForgetsAndJudgesAsTheSetDoes) {
  lockstep both(
      store_->create("a", spec_of({.capacity = 600, .error_rate = 0.001, .window = window_spec{60s, 3}})));
  random_digests source(5);
  std::vector<digest> old = source.take(100);
  for (int step = 0; step < 40; ++step) {
    const event_time time = at(step * 7s);
    both.add(source.take(60), time);
    both.add(old, time);
    both.add(source.take(20), time - 25s);
    both.add(source.take(5), time - 200s);
    both.check(old, time);
  }
  both.expect_error_rate();
  EXPECT_LE(both.filter().state(0).slices.size(), 4u);
}

TEST_P(AnyStore, CountsTheFreshKeys) {
  const auto filter = store_->create("a", spec_of({.capacity = 300, .error_rate = 0.001}));
  EXPECT_EQ(keys_in(*filter), 0u);
  std::uint64_t fresh = 0;
  random_digests source(6);
  for (int batch = 0; batch < 5; ++batch) fresh += tally_of(add_keys(*filter, source.take(300))).fresh;
  EXPECT_EQ(keys_in(*filter), fresh);
}

TEST_P(AnyStore, ReopenedFilterIsTheSame) {
  const spec s = spec_of({.capacity = 200, .error_rate = 0.001, .window = window_spec{60s, 3}});
  lockstep both(store_->create("a", s));
  random_digests source(8);
  for (int step = 0; step < 6; ++step) both.add(source.take(300), at(step * 20s));
  const auto before = segments_of(both.filter());
  both.continue_with(nullptr);
  both.continue_with(store_->open("a", access::write));
  EXPECT_EQ(segments_of(both.filter()), before);
  for (int step = 6; step < 12; ++step) both.add(source.take(300), at(step * 20s));
  both.expect_error_rate();
}

TEST_P(AnyStore, FilterOpenedForReadingSeesConcurrentAdds) {
  const auto writer = store_->create("a", spec_of({.capacity = 100, .error_rate = 0.001}));
  const auto reader = store_->open("a", access::read);
  random_digests source(9);
  for (int batch = 0; batch < 10; ++batch) {  // grows, so the reader must notice new segments
    const auto keys = source.take(200);
    ASSERT_TRUE(add_keys(*writer, keys).result);
    for (const verdict v : answered(check_keys(*reader, keys)).verdicts) ASSERT_EQ(v, verdict::seen) << batch;
    EXPECT_EQ(keys_in(*reader), keys_in(*writer));
  }
  EXPECT_EQ(segments_of(*reader), segments_of(*writer));
}

TEST_P(AnyStore, RestoredCopyHasTheSameBytesAndVerdicts) {
  for (const bool windowed : {false, true}) {
    spec s = spec_of({.capacity = 200, .error_rate = 0.001, .partitions = 2});
    if (windowed)
      s = spec_of({.capacity = 200, .error_rate = 0.001, .window = window_spec{60s, 3}, .partitions = 2});
    const std::string name = windowed ? "w" : "a";
    lockstep both(store_->create(name, s));
    random_digests source(10);
    for (int step = 0; step < 4; ++step) both.add(source.take(400), at(step * 20s));
    restore_into(*store_, name + "-copy", both.filter());
    const auto copy = store_->open(name + "-copy", access::write);
    expect_copy(segments_of(*copy), segments_of(both.filter()));
    both.continue_with(copy);
    for (int step = 4; step < 8; ++step) both.add(source.take(400), at(step * 20s));
    both.expect_error_rate();
  }
}

// Promise: an export imports as the same filter in every store (guarantees, Stores).
TEST_P(AnyStore, ExportedStreamImportsAsTheSameFilter) {
  const auto filter = store_->create("a", spec_of({.capacity = 200, .error_rate = 0.001}));
  ASSERT_TRUE(add_keys(*filter, random_digests(13).take(2'000)).result);
  std::vector<std::byte> stream;
  image::stream_writer out([&](auto piece) { stream.insert(stream.end(), piece.begin(), piece.end()); }, "b",
                           filter->get_spec());
  for (std::uint32_t p = 0; p < filter->get_spec().partitions; ++p)
    filter->visit_segments(
        p, [&](const auto& id, const auto& layer, auto bits) { out.segment(id, layer, bits); });
  out.finish();

  image::stream_reader in([rest = std::span(stream)](std::span<std::byte> buffer) mutable {
    const std::size_t n = std::min(buffer.size(), rest.size());
    std::memcpy(buffer.data(), rest.data(), n);
    rest = rest.subspan(n);
    return n;
  });
  const auto target = store_->begin_restore(in.name(), in.get_spec());
  while (const auto header = in.next()) {
    auto place = target->add_segment(header->id, {header->shape, header->capacity, header->keys});
    in.read_bits([&](auto piece) {
      std::memcpy(place.data(), piece.data(), piece.size());
      place = place.subspan(piece.size());
    });
  }
  target->commit();
  expect_copy(segments_of(*store_->open("b", access::read)), segments_of(*filter));
}

// Promise: an export beside a writer counts the keys whose bits it has (files, Backup).
TEST_P(AnyStore, CopyTakenBesideAWriterCountsTheKeysWhoseBitsItHas) {
  const auto filter = store_->create("a", spec_of({.capacity = 2'000, .error_rate = 0.001}));
  ASSERT_TRUE(add_keys(*filter, random_digests(13).take(1'500)).result);
  const auto target = store_->begin_restore("b", filter->get_spec());
  for (copied_segment& segment : segments_of(*filter)) {
    segment.layer.keys /= 3;  // read before the bits of the rest were set
    std::memcpy(target->add_segment(segment.id, segment.layer).data(), segment.bits.data(),
                segment.bits.size());
  }
  target->commit();
  EXPECT_NEAR(static_cast<double>(keys_in(*store_->open("b", access::read))), 1'500, 100);
}

TEST_P(AnyStore, RestoreMayOutliveItsStore) {
  auto target = store_->begin_restore("a", spec_of({.capacity = 100}));
  store_.reset();
  EXPECT_NO_THROW(target->commit());
}

TEST_P(AnyStore, RestoreIsInvisibleUntilItIsCommitted) {
  const auto target = store_->begin_restore("a", spec_of({.capacity = 100}));
  EXPECT_FALSE(store_->exists("a"));
  EXPECT_TRUE(store_->list().empty());
  target->commit();
  EXPECT_TRUE(store_->exists("a"));
}

// Promise: an import that fails leaves no filter (files, Damage).
TEST_P(AnyStore, AbandonedRestoreLeavesNothing) {
  const geometry shape = {layout_kind::line_8x64, 8, 128};
  {
    const auto target =
        store_->begin_restore("a", spec_of({.capacity = 100, .layout = layout_kind::line_8x64}));
    (void)target->add_segment({0, 0, 0}, {shape, 10, 1});
  }
  EXPECT_FALSE(store_->exists("a"));
  EXPECT_TRUE(store_->create("a", spec_of({.capacity = 100})));
}

TEST_P(AnyStore, RestoreWithAMissingLayerIsRefused) {
  const geometry shape = {layout_kind::line_8x64, 8, 128};
  const auto target =
      store_->begin_restore("a", spec_of({.capacity = 100, .layout = layout_kind::line_8x64}));
  EXPECT_THROW((void)target->add_segment({0, 0, 1}, {shape, 10, 1}), format_error);
}

TEST_P(AnyStore, OfTwoRestoresOfOneNameTheFirstToCommitWins) {
  const auto first = store_->begin_restore("a", spec_of({.capacity = 100}));
  const auto second = store_->begin_restore("a", spec_of({.capacity = 200}));
  first->commit();
  EXPECT_THROW(second->commit(), parameter_error);
  EXPECT_EQ(store_->open("a", access::read)->get_spec().capacity, 100u);
}

TEST_P(AnyStore, OfManyThreadsThatAddAKeyExactlyOneGetsFresh) {
  const auto filter = store_->create("a", spec_of({.capacity = 500, .error_rate = 1e-12, .partitions = 4}));
  const auto keys = random_digests(11).take(4'000);
  std::vector<std::atomic<int>> fresh(keys.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t from = 0; from < keys.size(); from += 500) {
        // Each thread begins at another key, so that all parts of the filter are contended.
        const std::size_t begin = (from + t * 1000) % keys.size();
        const answers got = add_keys(*filter, std::span(keys).subspan(begin, 500));
        for (std::size_t i = 0; i < 500; ++i) fresh[begin + i] += got.verdicts[i] == verdict::fresh;
      }
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(fresh[i], 1) << i;
  EXPECT_EQ(keys_in(*filter), keys.size());
}

TEST_P(AnyStore, SyncAndLookUpsMayRunBesideAdds) {
  const auto filter =
      store_->create("a", spec_of({.capacity = 500, .error_rate = 1e-9, .window = window_spec{60s, 3}}));
  const auto keys = random_digests(12).take(3'000);
  std::atomic<bool> done = false;
  std::thread syncer([&] {
    while (!done) {
      filter->sync();
      answered(check_keys(*filter, std::span(keys).first(100)));
      (void)keys_in(*filter);
      std::this_thread::yield();
    }
  });
  for (std::size_t from = 0; from < keys.size(); from += 100)
    EXPECT_TRUE(add_keys(*filter, std::span(keys).subspan(from, 100), at(from / 100 * 10s)).result);
  done = true;
  syncer.join();
}

}  // namespace everseen::any_store
