#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen::test {

inline event_time at_ms(std::int64_t ms) {
  return event_time(std::chrono::milliseconds(ms));
}

/// A key of a small universe, and when it occurred.
struct timed_key {
  unsigned key = 0;
  std::int64_t ms = 0;
};

/// A partition with exact sets instead of bits: the definition that the real one is checked against.
class exact_partition {
 public:
  explicit exact_partition(const spec& s) : spec_(s) {}

  /// `unknown` if a filter that refuses has no room.
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

  /// The slices and the keys of their layers: each layer is filled completely before the next begins.
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
  [[nodiscard]] window::slice_index oldest(window::slice_index newest) const {
    return spec_.window ? window::oldest_live(*spec_.window, newest) : newest;
  }
  [[nodiscard]] bool is_late(window::slice_index slice) const {
    return !slices_.empty() && slice < oldest(newest());
  }
  [[nodiscard]] bool holds(unsigned key, window::slice_index newest) const {
    return std::any_of(slices_.begin(), slices_.end(),
                       [&](const auto& s) { return s.first >= oldest(newest) && s.second.contains(key); });
  }

  spec spec_;
  std::map<window::slice_index, std::set<unsigned>> slices_;
};

/// A spec with an error rate so low that an exact model must agree.
inline spec errorless(std::uint64_t capacity, growth_kind growth = growth_kind::grow,
                      std::optional<window_spec> window = {}, std::uint32_t partitions = 1) {
  return make_spec({.capacity = capacity,
                    .error_rate = 1e-13,
                    .seed = hash_seed{},
                    .growth = growth,
                    .window = window,
                    .partitions = partitions});
}

}  // namespace everseen::test
