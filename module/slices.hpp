#pragma once

#include "everseen/core/spec.hpp"
#include "everseen/core/window.hpp"

/// Clients name slices, the core is told times.
namespace everseen::redis_module {

/// Whether a time falls into this slice: there are more numbers than slices.
[[nodiscard]] inline bool has_time(const window_spec& w, window::slice_index slice) noexcept {
  return slice >= window::slice_at(w, event_time::min()) && slice <= window::slice_at(w, event_time::max());
}

/// The first moment of a slice.    @pre has_time(w, slice)
[[nodiscard]] inline event_time beginning_of(const window_spec& w, window::slice_index slice) noexcept {
  // The first slice of all began before time does.
  if (slice == window::slice_at(w, event_time::min())) return event_time::min();
  return event_time(slice * w.slice_width());
}

}  // namespace everseen::redis_module
