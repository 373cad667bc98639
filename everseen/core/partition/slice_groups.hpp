#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

/// Keys of mixed times, sorted by slice so that each slice is written in one pass.
///
/// Judged one by one, each key would meet each segment alone, at one memory latency each. Sorting gives the
/// same verdicts, except that it may avoid false positives. For keys that no live slice had before:
/// - A key is compared with all live slices, whatever its own slice is. Whether it is fresh depends only on
///   which keys came before it, not on their slices.
/// - A repeated key is `seen` whatever its second slice is. Repeats are detected here, by digest, and set
///   aside: they take the verdict of the first occurrence.
/// - The remaining keys are distinct, and each is written to its own slice. Keys of one slice keep their
///   order, so its layers fill and grow as before; keys of different slices do not touch the same bits.
///
/// The window must not move meanwhile: the caller opens the newest slice first, and passes only keys that are
/// not late. A key that would have been a false positive because of the bits of another key of the batch may
/// be `fresh` here: there are fewer false positives, never more.
///
/// Memory: 100 KB of the caller's stack. Cost: 10 to 40 ns a key, depending on how mixed the slices are.
class slice_groups {
 public:
  static constexpr std::size_t max_keys = 2048;

  /// The keys of one slice, in order.
  struct group {
    window::slice_index slice = window::timeless;
    std::span<const digest> keys;
    const std::uint16_t* places;  ///< where each key's verdict goes
  };

  /// @param keys    at most max_keys; must live as long as this
  /// @param places  where each key's verdict goes; null: its own index
  /// @param slices  by place
  slice_groups(std::span<const digest> keys, const std::uint16_t* places,
               std::span<const window::slice_index> slices) noexcept;

  /// Calls visit(group) for each slice that occurs, in ascending order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t from = 0; from < firsts_;) {
      std::size_t end = from + 1;
      while (end < firsts_ && slice_of_[end] == slice_of_[from]) ++end;
      visit(group{slice_of_[from], {sorted_.data() + from, end - from}, place_of_.data() + from});
      from = end;
    }
  }

  /// Gives repeats their verdicts after the groups have theirs: `seen`, or `unknown` if the first one is.
  void mark_repeats(verdict* out) const noexcept;

 private:
  struct repeat {
    std::uint16_t place;
    std::uint16_t first;  // place of the first occurrence
  };

  std::size_t firsts_ = 0;
  std::size_t repeats_count_ = 0;
  std::array<digest, max_keys> sorted_;  // the arrays stay uninitialised past their used part
  std::array<window::slice_index, max_keys> slice_of_;
  std::array<std::uint16_t, max_keys> place_of_;
  std::array<repeat, max_keys> repeats_;
};

}  // namespace everseen
