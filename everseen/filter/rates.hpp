#pragma once

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Probability that a key never added to this partition is called seen now: one minus the product, over the
/// segments, of the probability of no false positive. Computed from the key counts,
/// with the keys that were called seen by mistake (sizing::keys_from_counted).
[[nodiscard]] double error_rate_now(const spec& s, const partition_state& state);

/// The same for one layer.
[[nodiscard]] double error_rate_now(const layer_state& layer);

/// Expected number of fresh keys of this partition that were called seen. For each layer: the integral of its
/// own rate while it filled, plus the rates of the segments completed before it. With a window this is an
/// upper bound, since slices are taken as complete.
[[nodiscard]] double expected_false_seen(const partition_state& state);

}  // namespace everseen
