#include "everseen/filter/scatter.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/printing.hpp"
#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

using testing::ElementsAreArray;

event_time at(std::size_t ms) {
  return event_time(std::chrono::milliseconds(ms));
}

/// A value that depends on a key alone, so that it identifies the key.
verdict mark(const digest& d) {
  return static_cast<verdict>(d.high % 4);
}

void expect_round_trip(scatter& sorter, std::size_t n, std::uint32_t partitions, bool own_times) {
  SCOPED_TRACE(std::to_string(n) + " keys, " + std::to_string(partitions) + " partitions");
  const std::vector<digest> digests = test::random_digests(n + partitions).take(n);
  std::vector<event_time> times;
  for (std::size_t i = 0; i < (own_times ? n : 1); ++i) times.push_back(at(i));
  std::vector<verdict> out(n, verdict::unknown);

  std::size_t keys = 0;
  std::vector<bool> met(partitions);
  for (const partition_batch& batch : sorter.sort(digests, times, partitions, out)) {
    ASSERT_LT(batch.partition, partitions);
    EXPECT_FALSE(met[batch.partition]) << "a partition occurs once";
    met[batch.partition] = true;
    ASSERT_FALSE(batch.digests.empty());
    ASSERT_EQ(batch.out.size(), batch.digests.size());
    ASSERT_TRUE(batch.times.size() == 1 || batch.times.size() == batch.digests.size());

    std::vector<digest> expected;
    std::vector<event_time> expected_times;
    for (std::size_t i = 0; i < n; ++i)
      if (partition_of(digests[i], partitions) == batch.partition) {
        expected.push_back(digests[i]);
        expected_times.push_back(times[own_times ? i : 0]);
      }
    ASSERT_TRUE(std::equal(batch.digests.begin(), batch.digests.end(), expected.begin(), expected.end()))
        << "the keys keep their order";
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(batch.times[batch.times.size() == 1 ? 0 : i], expected_times[i]);
      batch.out[i] = mark(batch.digests[i]);
    }
    keys += batch.digests.size();
  }
  EXPECT_EQ(keys, n);
  sorter.gather();
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], mark(digests[i])) << i;
}

TEST(Scatter, SortsByPartitionAndReturnsVerdictsInOrder) {
  scatter sorter;  // one for all, as a worker uses it
  for (const std::size_t n : {0U, 1U, 2U, 100U, 5000U, 3U, 0U, 50U})
    for (const std::uint32_t partitions : {1U, 2U, 7U, 64U, 1U, 65'536U})
      for (const bool own_times : {false, true}) expect_round_trip(sorter, n, partitions, own_times);
}

TEST(Scatter, SortsABatchThatComesInPieces) {
  scatter sorter;
  const std::vector<digest> digests = test::random_digests(3).take(5000);
  std::vector<event_time> times;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    times.push_back(at(i));
    names.push_back(std::to_string(i));
  }
  const std::vector<std::string_view> keys(names.begin(), names.end());
  for (const std::uint32_t partitions : {1U, 7U, 64U}) {
    std::vector<verdict> out(digests.size());
    sorter.begin(partitions);
    for (std::size_t from = 0, piece = 1; from < digests.size(); from += piece, piece *= 2)
      sorter.put(std::span(digests).subspan(from, std::min(piece, digests.size() - from)));
    for (const partition_batch& batch : sorter.finish(times, out, keys)) {
      std::size_t i = 0;  // in the batch
      for (std::size_t all = 0; all < digests.size(); ++all) {
        if (partition_of(digests[all], partitions) != batch.partition) continue;
        ASSERT_EQ(batch.digests[i], digests[all]);
        ASSERT_EQ(batch.times[i], times[all]);
        ASSERT_EQ(batch.keys[i], keys[all]);
        batch.out[i++] = mark(digests[all]);
      }
      ASSERT_EQ(batch.digests.size(), i);
    }
    sorter.gather();
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], mark(digests[i])) << i;
  }
}

TEST(Scatter, GivesAllRepeatsOfOneKeyToOnePartition) {
  scatter sorter;
  const std::vector<digest> same(3000, test::random_digests(4).take(1).front());
  const event_time one = at(7);
  std::vector<verdict> out(same.size());
  const auto batches = sorter.sort(same, {&one, 1}, 64, out);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].digests.size(), same.size());
  EXPECT_THAT(batches[0].times, testing::ElementsAre(one));
}

TEST(Scatter, HoldsMemoryForAFewBatchesWhicheverPartitionsTheyFill) {
  scatter sorter;
  constexpr std::size_t n = 100'000;
  std::vector<verdict> out(n);
  std::vector<bool> filled(64);
  for (const digest& d : test::random_digests(5).take(1'000)) {
    const std::uint32_t p = partition_of(d, 64);
    if (filled[p]) continue;
    filled[p] = true;
    ASSERT_EQ(sorter.sort(std::vector<digest>(n, d), {}, 64, out).size(), 1U);
    EXPECT_LE(sorter.room(), 4 * n + 4 * n) << "and less than twice as many for the lane that grew";
  }
  EXPECT_EQ(std::ranges::count(filled, true), 64);
}

TEST(Scatter, JudgesASinglePartitionInPlace) {
  scatter sorter;
  const std::vector<digest> digests = test::random_digests(1).take(10);
  std::vector<verdict> out(10);
  const auto batches = sorter.sort(digests, {}, 1, out);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].digests.data(), digests.data());
  EXPECT_EQ(batches[0].out.data(), out.data());
}

TEST(Scatter, MovesKeysWithTheirDigests) {
  scatter sorter;
  const std::vector<digest> digests = test::random_digests(2).take(500);
  std::vector<std::string> names;
  for (const digest& d : digests) names.push_back(std::to_string(d.high));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  std::vector<verdict> out(digests.size());
  for (const std::uint32_t partitions : {1U, 7U}) {
    for (const partition_batch& batch : sorter.sort(digests, {}, partitions, out, keys)) {
      ASSERT_EQ(batch.keys.size(), batch.digests.size());
      for (std::size_t i = 0; i < batch.keys.size(); ++i)
        EXPECT_EQ(batch.keys[i], std::to_string(batch.digests[i].high));
    }
    for (const partition_batch& batch : sorter.sort(digests, {}, partitions, out))
      EXPECT_TRUE(batch.keys.empty());
  }
}

}  // namespace
}  // namespace everseen
