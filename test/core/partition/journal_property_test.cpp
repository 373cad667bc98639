// A partition is a state machine whose input is its journal. The predictions of one client, applied by
// another, must equal the verdicts of a single partition.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "everseen/core/kernel/kernels.hpp"
#include "everseen/core/partition/prediction.hpp"

#include "test/support/model/partition_doubles.hpp"

namespace everseen {
namespace {

using test::checked_segments;
using test::errorless;
using test::exact_partition;
using test::owned_batch;
using test::timed_key;

/// Batches whose times drift forwards, sometimes jump, and are out of order.
std::vector<std::vector<timed_key>> drifting_batches(std::int64_t slice_ms, std::uint32_t slices) {
  const auto universe = *rc::gen::inRange(1U, 400U);
  test::random_digests random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::vector<timed_key>> batches(*rc::gen::inRange<std::size_t>(1, 12));
  std::int64_t time = 0;
  for (auto& batch : batches) {
    const std::size_t n = 1 + random.word() % 300;  // nothing is judged in an empty batch, and no record made
    for (std::size_t i = 0; i < n; ++i) {
      const auto span = static_cast<std::uint64_t>(slice_ms * (slices + 2));
      if (random.word() % 8 == 0) time += static_cast<std::int64_t>(random.word() % (span / 8 + 1));
      const std::int64_t when =
          random.word() % 3 == 0 ? time - static_cast<std::int64_t>(random.word() % span) : time;
      batch.push_back({static_cast<unsigned>(random.word() % universe), when});
    }
  }
  return batches;
}

/// A client: its bits follow from the records so far.
struct replica {
  explicit replica(const spec& s) : logic(s, 0, place) {}
  checked_segments place;
  partition logic;
};

/// As the next client reads it.
journal_record through_bytes(const journal_record& r) {
  std::string bytes;
  (void)append_record(bytes, r);
  const auto read = journal_reader(bytes).next();
  RC_ASSERT(read == r);
  return *read;
}

/// With keys of either form.
spec with_any_hash(spec s) {
  s.hash = *rc::gen::element(hash_kind::xxh3, hash_kind::xxh3_64);
  return s;
}

/// Clients take turns at random. Each first predicts from its own state, then applies everything that all
/// clients have added.
void replicas_agree_with_the_model(const spec& like, const std::vector<std::vector<timed_key>>& batches) {
  const spec s = with_any_hash(like);
  std::vector<std::unique_ptr<replica>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<replica>(s));
  std::vector<std::size_t> applied(clients.size());
  std::vector<journal_record> journal;
  exact_partition model(s);
  predictor verdicts;
  for (const auto& keys : batches) {
    const auto who = *rc::gen::inRange<std::size_t>(0, clients.size());
    partition& mine = clients[who]->logic;
    const auto read_on = [&] {
      while (applied[who] < journal.size()) mine.apply(journal[applied[who]++]);
    };
    read_on();
    owned_batch batch(keys);
    for (std::size_t from = 0; from < keys.size();) {
      const partition_batch rest{0, std::span(batch.digests).subspan(from),
                                 std::span(batch.times).subspan(from), std::span(batch.out).subspan(from)};
      const prediction p = verdicts.predict(mine, s, rest, predictor::no_room::skips);
      RC_ASSERT(p.judged > 0);
      journal.push_back(through_bytes(record_of(p, mine.state(), s, rest)));
      read_on();
      from += p.judged;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) RC_ASSERT(batch.out[i] == model.add(keys[i]));
  }
  for (std::size_t c = 0; c < clients.size(); ++c) {
    while (applied[c] < journal.size()) clients[c]->logic.apply(journal[applied[c]++]);
    RC_ASSERT(clients[c]->logic.state() == clients[0]->logic.state());
    RC_ASSERT(clients[c]->logic.state().keys() == model.state().keys());
  }
}

RC_GTEST_PROP(Journal, ClientsThatApplyItAgreeWithOneExactGrowingPartition, ()) {
  replicas_agree_with_the_model(errorless(*rc::gen::inRange<std::uint64_t>(1, 100)),
                                drifting_batches(1000, 1));
}

RC_GTEST_PROP(Journal, ClientsThatApplyItAgreeWithOneExactRefusingPartition, ()) {
  replicas_agree_with_the_model(errorless(*rc::gen::inRange<std::uint64_t>(1, 100), growth_kind::refuse),
                                drifting_batches(1000, 1));
}

RC_GTEST_PROP(Journal, ClientsThatApplyItAgreeWithOneExactWindowedPartition, ()) {
  const auto slices = *rc::gen::inRange<std::uint32_t>(1, 6);
  const window_spec w{std::chrono::milliseconds(1000 * slices), slices};
  replicas_agree_with_the_model(errorless(*rc::gen::inRange<std::uint64_t>(1, 100), growth_kind::grow, w),
                                drifting_batches(1000, slices));
}

/// One partition, whose batches are judged whole before any of their keys is added.
void whole_batches_agree_with_the_model(const spec& like,
                                        const std::vector<std::vector<timed_key>>& batches) {
  const spec s = with_any_hash(like);
  replica one(s);
  exact_partition model(s);
  predictor verdicts;
  for (const auto& keys : batches) {
    owned_batch batch(keys);
    const partition_batch whole{0, batch.digests, batch.times, batch.out};
    const prediction p = verdicts.predict_whole(one.logic, s, whole);
    RC_ASSERT(p.judged == keys.size());
    one.logic.apply(record_of(p, one.logic.state(), s, whole));
    bool full = false;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const verdict expected = model.add(keys[i]);
      full = full || expected == verdict::unknown;
      RC_ASSERT(batch.out[i] == expected);
    }
    RC_ASSERT(p.full.has_value() == full);
  }
  RC_ASSERT(one.logic.state().keys() == model.state().keys());
}

RC_GTEST_PROP(Journal, BatchesJudgedWholeAgreeWithOneExactGrowingPartition, ()) {
  whole_batches_agree_with_the_model(errorless(*rc::gen::inRange<std::uint64_t>(1, 100)),
                                     drifting_batches(1000, 1));
}

RC_GTEST_PROP(Journal, BatchesJudgedWholeAgreeWithOneExactRefusingPartition, ()) {
  whole_batches_agree_with_the_model(errorless(*rc::gen::inRange<std::uint64_t>(1, 100), growth_kind::refuse),
                                     drifting_batches(1000, 1));
}

RC_GTEST_PROP(Journal, BatchesJudgedWholeAgreeWithOneExactWindowedPartition, ()) {
  const auto slices = *rc::gen::inRange<std::uint32_t>(1, 6);
  const window_spec w{std::chrono::milliseconds(1000 * slices), slices};
  whole_batches_agree_with_the_model(
      errorless(*rc::gen::inRange<std::uint64_t>(1, 100), growth_kind::grow, w),
      drifting_batches(1000, slices));
}

TEST(Journal, LeavesTheBitsThatAddingLeavesForBothFormsOfKeys) {
  for (const layout_kind layout : all_layouts)
    for (const hash_kind hash : {hash_kind::xxh3, hash_kind::xxh3_64}) {
      const spec s = make_spec({.capacity = 1000,
                                .error_rate = 1e-6,
                                .layout = layout,
                                .hash = hash,
                                .seed = hash_seed{},
                                .partitions = 1});
      replica added(s);
      replica read(s);
      const auto keys = test::random_digests(7).take(3000);
      std::vector<verdict> out(keys.size());
      const partition_batch batch{0, keys, {}, out};
      predictor verdicts;
      const prediction p = verdicts.predict_whole(read.logic, s, batch);
      read.logic.apply(through_bytes(record_of(p, read.logic.state(), s, batch)));
      ASSERT_TRUE(added.logic.add(batch));
      ASSERT_EQ(added.logic.state(), read.logic.state());
      for (std::uint32_t i = 0; i < added.logic.state().slices[0].layers.size(); ++i) {
        const segment_id id{0, window::timeless, i};
        EXPECT_EQ(std::memcmp(added.place.at(id), read.place.at(id),
                              added.logic.state().slices[0].layers[i].shape.bytes),
                  0)
            << to_string(layout) << ' ' << to_string(hash) << ' ' << i;
      }
    }
}

TEST(Journal, KeysWithTheSameFirstWordAreOneKeyIfTheHashIsShort) {
  spec s = errorless(50);
  const std::vector<digest> keys = {{1, 2}};
  const std::vector<digest> others = {{1, 3}};
  for (const hash_kind hash : {hash_kind::xxh3, hash_kind::xxh3_64}) {
    s.hash = hash;
    replica one(s);
    std::vector<verdict> out(1);
    ASSERT_TRUE(one.logic.add({0, keys, {}, out}));
    (void)one.logic.check({0, others, {}, out});
    EXPECT_EQ(out.front(), is_short(hash) ? verdict::seen : verdict::fresh);
    ASSERT_TRUE(one.logic.add({0, others, {}, out}));
    EXPECT_EQ(out.front(), is_short(hash) ? verdict::seen : verdict::fresh);
  }
}

TEST(Journal, BitsThatACheckpointAlreadyContainsChangeNoCount) {
  const spec s = errorless(50);
  replica early(s);
  replica other(s);
  const auto keys = test::random_digests(3).take(200);
  std::vector<journal_record> journal;
  for (std::size_t from = 0; from < keys.size(); from += 40)
    journal.push_back({0,
                       window::timeless,
                       {{window::timeless, 40}},
                       {keys.begin() + static_cast<std::ptrdiff_t>(from),
                        keys.begin() + static_cast<std::ptrdiff_t>(from + 40)}});
  early.logic.apply(journal.front());
  other.logic.apply(journal.front());
  // As if the segment had been read after a later record was written to it.
  std::vector<verdict> out(10);
  const segment_id first{0, window::timeless, 0};
  best_kernel().add(early.place.at(first), early.logic.state().slices[0].layers[0].shape,
                    std::span(keys).subspan(40, 10), out.data());
  for (std::size_t i = 1; i < journal.size(); ++i) {
    early.logic.apply(journal[i]);
    other.logic.apply(journal[i]);
    EXPECT_EQ(early.logic.state(), other.logic.state());
  }
}

}  // namespace
}  // namespace everseen
