#pragma once

#include <functional>

#include "everseen/core/spec.hpp"

namespace everseen {

/// Says what time it is. Whoever makes a store gives it one, so that none reads a clock of its own accord.
/// Threads: any number may call it at once.
using time_source = std::function<event_time()>;

/// The clock of this machine.
[[nodiscard]] event_time wall_clock();

/// When something ends that is to last for so long.
/// @throws parameter_error  that is less than a second; or beyond the end of time
[[nodiscard]] event_time end_after(event_time now, std::chrono::milliseconds life);

}  // namespace everseen
