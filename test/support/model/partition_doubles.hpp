#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/segments.hpp"

#include "test/support/model/exact_partition.hpp"
#include "test/support/printing.hpp"
#include "test/support/random_digests.hpp"

namespace everseen::test {

/// The digest of each key of the universe, the same in every test.
inline const digest& digest_of(unsigned key) {
  static const std::vector<digest> universe = random_digests(1).take(100'000);
  return universe.at(key);
}

/// Segments in memory that check how they are used, and fail on demand.
class checked_segments : public segments {
 public:
  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override {
    const auto found = segments_.find(id);
    if (found == segments_.end()) std::abort();  // the caller would write to an invalid address
    return const_cast<std::byte*>(found->second.lines.front().bytes);
  }

  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override {
    may_fail();
    const bool is_new =
        segments_.insert_or_assign(id, segment{std::vector<line>(shape.lines()), capacity}).second;
    EXPECT_TRUE(is_new) << "created twice: slice " << id.slice << " layer " << id.layer;
  }

  void drop_before(std::uint32_t partition, window::slice_index oldest) override {
    may_fail();
    std::erase_if(segments_, [&](const auto& entry) {
      return entry.first.partition == partition && entry.first.slice < oldest;
    });
  }

  void expect_keys(const segment_id& id, std::uint64_t keys) noexcept override {
    segments_.at(id).expected = keys;
  }

  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override {
    EXPECT_LE(keys, segments_.at(id).expected) << "more than were announced";
    segments_.at(id).keys = keys;
  }

  /// Makes call number `call` (from 0) of create and drop_before throw, once.
  void fail_at(std::uint64_t call, bool out_of_memory) {
    fails_at_ = call;
    out_of_memory_ = out_of_memory;
  }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
  [[nodiscard]] std::size_t size() const noexcept { return segments_.size(); }

  /// Checks that the state describes these segments, each within its capacity unless `overfill`.
  void expect_described_by(const partition_state& state, bool overfill) const {
    std::size_t described = 0;
    for (const slice_state& slice : state.slices)
      for (std::uint32_t i = 0; i < slice.layers.size(); ++i, ++described) {
        const layer_state& layer = slice.layers[i];
        const auto found = segments_.find({0, slice.index, i});
        ASSERT_NE(found, segments_.end()) << "no segment for slice " << slice.index << " layer " << i;
        EXPECT_EQ(found->second.keys, layer.keys);
        EXPECT_EQ(found->second.capacity, layer.capacity);
        EXPECT_EQ(found->second.lines.size(), layer.shape.lines());
        if (!overfill) {
          EXPECT_LE(layer.keys, layer.capacity);
        }
      }
    EXPECT_EQ(described, segments_.size());
  }

 private:
  struct alignas(line_bytes) line {
    std::byte bytes[line_bytes] = {};
  };
  struct segment {
    std::vector<line> lines;
    std::uint64_t capacity = 0;
    std::uint64_t keys = 0;
    std::uint64_t expected = 0;
  };

  void may_fail() {
    if (calls_++ != fails_at_) return;
    if (out_of_memory_) throw std::bad_alloc();
    throw storage_error("no room", 28, "double");
  }

  std::map<segment_id, segment> segments_;
  std::uint64_t calls_ = 0;
  std::uint64_t fails_at_ = UINT64_MAX;
  bool out_of_memory_ = false;
};

/// A batch for partition 0 that owns its arrays.
class owned_batch {
 public:
  explicit owned_batch(const std::vector<timed_key>& keys) : out(keys.size(), verdict::unknown) {
    for (const timed_key& k : keys) {
      digests.push_back(digest_of(k.key));
      times.push_back(at_ms(k.ms));
    }
  }
  [[nodiscard]] partition_batch view() { return {0, digests, times, out}; }

  std::vector<digest> digests;
  std::vector<event_time> times;
  std::vector<verdict> out;
};

/// Batches that grow, rotate, are out of order and contain repeats.
inline std::vector<std::vector<timed_key>> troublesome_batches(bool window) {
  random_digests random(7);
  std::vector<std::vector<timed_key>> batches;
  std::int64_t time = 0;
  for (unsigned b = 0; b < 12; ++b) {
    std::vector<timed_key>& keys = batches.emplace_back();
    for (unsigned i = 0; i < 30; ++i) {
      const auto key = static_cast<unsigned>(random.word() % 150);
      const auto jitter = static_cast<std::int64_t>(random.word() % 250);
      keys.push_back({key, window ? time - jitter : 0});
      time += static_cast<std::int64_t>(random.word() % 12);
    }
  }
  return batches;
}

/// Adds the keys that have no verdict again, as a client does, and fills in their verdicts.
inline void retry_unknown(const std::vector<timed_key>& keys, owned_batch& batch, partition& logic) {
  std::vector<timed_key> again;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (batch.out[i] == verdict::unknown) again.push_back(keys[i]);
  owned_batch rest(again);
  EXPECT_TRUE(logic.add(rest.view()));
  for (std::size_t i = 0, a = 0; i < keys.size(); ++i)
    if (batch.out[i] == verdict::unknown) batch.out[i] = rest.out[a++];
}

inline tally count(const std::vector<verdict>& verdicts) {
  tally sum;
  for (const verdict v : verdicts) {
    sum.fresh += v == verdict::fresh;
    sum.seen += v == verdict::seen;
    sum.late += v == verdict::late;
    sum.unknown += v == verdict::unknown;
  }
  return sum;
}

}  // namespace everseen::test
