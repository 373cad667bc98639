#pragma once

#include "everseen/core/partition.hpp"
#include "everseen/core/spec.hpp"

namespace everseen {

/// Chance that a key never added to this partition is called seen now: one minus the product of the segments'
/// chances to be right. By the formulas, from the counts of keys.
[[nodiscard]] double error_rate_now(const spec& s, const partition_state& state);

/// Fresh keys of this partition that were probably called seen: for each layer the integral of its own rate
/// while it filled, plus the rates of the segments that were complete by then. An upper bound with a window,
/// since slices are taken as complete.
[[nodiscard]] double expected_false_seen(const partition_state& state);

}  // namespace everseen
