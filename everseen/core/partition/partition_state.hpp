#pragma once

#include <cstdint>
#include <vector>

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

/// One bit array of a growing slice, and its fill.
struct layer_state {
  geometry shape;
  std::uint64_t capacity = 0;  ///< keys that it may hold within its error rate
  std::uint64_t keys = 0;      ///< keys added
  friend bool operator==(const layer_state&, const layer_state&) = default;
};

/// One time slice: its layers, oldest first; only the last one is written to.
struct slice_state {
  window::slice_index index = window::timeless;
  std::vector<layer_state> layers;
  friend bool operator==(const slice_state&, const slice_state&) = default;
};

/// The state of a partition besides its bits. Slices ascend by index and each has at least one layer.
struct partition_state {
  std::vector<slice_state> slices;
  friend bool operator==(const partition_state&, const partition_state&) = default;

  [[nodiscard]] std::uint64_t keys() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

}  // namespace everseen
