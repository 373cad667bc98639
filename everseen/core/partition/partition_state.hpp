#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/spec.hpp"
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

  [[nodiscard]] std::uint64_t keys() const noexcept {
    std::uint64_t sum = 0;
    for (const slice_state& slice : slices)
      for (const layer_state& layer : slice.layers) sum += layer.keys;
    return sum;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const slice_state& slice : slices)
      for (const layer_state& layer : slice.layers) sum += layer.shape.bytes;
    return sum;
  }
};

/// The keys of a batch that belong to one partition, and where their verdicts go.
struct partition_batch {
  std::uint32_t partition = 0;
  std::span<const digest> digests;
  /// One time per key, or one for all. Ignored (and may be empty) without a window.
  std::span<const event_time> times;
  std::span<verdict> out;  ///< as many as digests
  /// The keys themselves, one per digest, for a store that wants them (stored_filter::wants_keys); else
  /// empty.
  std::span<const std::string_view> keys{};
};

}  // namespace everseen
