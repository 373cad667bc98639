#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/growth.hpp"
#include "everseen/core/partition.hpp"
#include "everseen/core/segments.hpp"
#include "everseen/core/window.hpp"

#include "test/support/printing.hpp"
#include "test/support/random_digests.hpp"

namespace everseen::test {

inline event_time at_ms(std::int64_t ms) {
  return event_time(std::chrono::milliseconds(ms));
}

/// A key of a small universe, and when it occurred.
struct timed_key {
  unsigned key = 0;
  std::int64_t ms = 0;
};

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
    if (found == segments_.end()) std::abort();  // the caller would write into nowhere
    return const_cast<std::byte*>(found->second.lines.front().bytes);
  }

  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override {
    may_fail();
    const auto [place, is_new] = segments_.try_emplace(id);
    EXPECT_TRUE(is_new) << "created twice: slice " << id.slice << " layer " << id.layer;
    place->second = {std::vector<line>(shape.lines()), capacity, 0};
  }

  void drop_before(std::uint32_t partition, window::slice_index oldest) override {
    may_fail();
    std::erase_if(segments_, [&](const auto& entry) {
      return entry.first.partition == partition && entry.first.slice < oldest;
    });
  }

  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override { segments_.at(id).keys = keys; }

  /// Call number `call` (from 0) of create and drop_before throws, once.
  void fail_at(std::uint64_t call, bool out_of_memory) {
    fails_at_ = call;
    out_of_memory_ = out_of_memory;
  }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
  [[nodiscard]] std::size_t size() const noexcept { return segments_.size(); }

  /// That the state describes these segments, each within its capacity unless `overfill`.
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

/// What a partition would be with exact sets instead of bits: the definition that the real one is held to.
class exact_partition {
 public:
  explicit exact_partition(const spec& s) : spec_(s) {}

  /// `unknown` where a filter that refuses has no room.
  verdict add(const timed_key& k) {
    const window::slice_index slice = slice_of(k);
    if (is_late(slice)) return verdict::late;
    std::set<unsigned>& mine = slices_[slice];
    if (spec_.window) std::erase_if(slices_, [&](const auto& s) { return s.first < oldest(newest()); });
    if (holds(k.key, newest())) return verdict::seen;
    if (spec_.growth == growth_kind::refuse && mine.size() == growth::first_capacity(spec_))
      return verdict::unknown;
    mine.insert(k.key);
    return verdict::fresh;
  }

  [[nodiscard]] verdict check(const timed_key& k) const {
    const window::slice_index slice = slice_of(k);
    if (is_late(slice)) return verdict::late;
    const bool found = !slices_.empty() && holds(k.key, std::max(slice, newest()));
    return found ? verdict::seen : verdict::fresh;
  }

  /// The slices and the keys of their layers: each layer is filled to its last place before the next begins.
  [[nodiscard]] partition_state state() const {
    partition_state state;
    for (const auto& [index, keys] : slices_) {
      slice_state slice{index, {}};
      std::uint64_t rest = keys.size();
      do {
        const growth::layer_plan plan = growth::plan_layer(spec_, static_cast<unsigned>(slice.layers.size()));
        const std::uint64_t held =
            spec_.growth == growth_kind::overfill ? rest : std::min(rest, plan.capacity);
        slice.layers.push_back({plan.shape, plan.capacity, held});
        rest -= held;
      } while (rest > 0);
      state.slices.push_back(std::move(slice));
    }
    return state;
  }

 private:
  [[nodiscard]] window::slice_index slice_of(const timed_key& k) const {
    return spec_.window ? window::slice_at(*spec_.window, at_ms(k.ms)) : window::timeless;
  }
  [[nodiscard]] window::slice_index newest() const { return slices_.rbegin()->first; }
  [[nodiscard]] window::slice_index oldest(window::slice_index now) const {
    return spec_.window ? window::oldest_live(*spec_.window, now) : now;
  }
  [[nodiscard]] bool is_late(window::slice_index slice) const {
    return !slices_.empty() && slice < oldest(newest());
  }
  [[nodiscard]] bool holds(unsigned key, window::slice_index now) const {
    return std::any_of(slices_.begin(), slices_.end(),
                       [&](const auto& s) { return s.first >= oldest(now) && s.second.contains(key); });
  }

  spec spec_;
  std::map<window::slice_index, std::set<unsigned>> slices_;
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

/// A spec whose errors are so rare that an exact model must agree.
inline spec errorless(std::uint64_t capacity, growth_kind growth = growth_kind::grow,
                      std::optional<window_spec> window = {}) {
  return make_spec({.capacity = capacity,
                    .error_rate = 1e-13,
                    .seed = hash_seed{},
                    .growth = growth,
                    .window = window,
                    .partitions = 1});
}

}  // namespace everseen::test
