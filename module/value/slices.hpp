#pragma once

#include "everseen/core/spec/spec.hpp"
#include "everseen/core/spec/window.hpp"

/// Clients send slices; the core expects times.
namespace everseen::redis_module {

/// Whether any time is in this slice: there are more slice numbers than slices.
[[nodiscard]] inline bool has_time(const window_spec& w, window::slice_index slice) noexcept {
  return slice >= window::slice_at(w, event_time::min()) && slice <= window::slice_at(w, event_time::max());
}

/// The start of a slice.    @pre has_time(w, slice)
[[nodiscard]] inline event_time beginning_of(const window_spec& w, window::slice_index slice) noexcept {
  // The first slice starts before the first representable time.
  if (slice == window::slice_at(w, event_time::min())) return event_time::min();
  return event_time(slice * w.slice_width());
}

}  // namespace everseen::redis_module
