#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/digest.hpp"
#include "everseen/core/verdict.hpp"
#include "everseen/core/window.hpp"

namespace everseen {

/// Keys of mixed times, sorted by slice so that each slice is written in one go.
///
/// Judged one after the other, each key would meet each segment alone, at a memory latency apiece. Sorting
/// them changes no verdict, because this holds for keys that no live slice had before:
/// - A key is compared with all live slices, whatever its own. So whether it is fresh depends only on which
///   keys came before it, not on their slices.
/// - A key that occurs again is `seen` whatever its second slice is. Repeats are found here, by digest, and
///   set aside: they take the answer of the first.
/// - What is left are different keys, each written to its own slice. Keys of one slice keep their order, so
///   its layers fill and grow as they would have; keys of different slices do not touch the same bits.
/// The window must stand still meanwhile: the caller opens the newest slice before, and gives only keys that
/// are not late. A key that would have met the bits of another one by mistake, and so been called `seen`, may
/// be `fresh` here: there are fewer mistakes, never more.
///
/// Memory: 100 KB of the caller's stack. Cost: 10 to 40 ns a key, by how mixed the slices are.
class slice_groups {
 public:
  static constexpr std::size_t max_keys = 2048;

  /// One slice's keys, in the order they came.
  struct group {
    window::slice_index slice = window::timeless;
    std::span<const digest> keys;
    const std::uint16_t* places;  ///< where each key's verdict goes
  };

  /// @param keys    at most max_keys; must live as long as this
  /// @param places  where each key's verdict goes; null: its own number
  /// @param slices  by place
  slice_groups(std::span<const digest> keys, const std::uint16_t* places,
               std::span<const window::slice_index> slices) noexcept;

  /// Calls visit(group) for each slice that occurs, in ascending order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t from = 0; from < firsts_;) {
      std::size_t to = from + 1;
      while (to < firsts_ && slice_of_[to] == slice_of_[from]) ++to;
      visit(group{slice_of_[from], {sorted_.data() + from, to - from}, place_of_.data() + from});
      from = to;
    }
  }

  /// Gives the repeats their verdicts once the groups have theirs: `seen`, or `unknown` where the first is.
  void settle_repeats(verdict* out) const noexcept;

 private:
  struct repeat {
    std::uint16_t place;
    std::uint16_t first;  // place of the first occurrence
  };

  std::size_t firsts_ = 0;
  std::size_t repeats_count_ = 0;
  std::array<digest, max_keys> sorted_;  // the arrays stay uninitialised beyond what is used
  std::array<window::slice_index, max_keys> slice_of_;
  std::array<std::uint16_t, max_keys> place_of_;
  std::array<repeat, max_keys> repeats_;
};

}  // namespace everseen
