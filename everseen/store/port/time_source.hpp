#pragma once

#include <functional>

#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Returns the current time. The creator of a store passes one, so that no store reads a clock by itself.
/// Threads: any number may call it.
using time_source = std::function<event_time()>;

/// The clock of this machine.
[[nodiscard]] event_time wall_clock();

/// The time at which a filter with this lifetime expires.
/// @throws parameter_error  it is less than a second, or the end is too far to represent
[[nodiscard]] event_time end_after(event_time current_time, std::chrono::milliseconds life);

}  // namespace everseen
