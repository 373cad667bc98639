#pragma once

#include <cstdint>

#include "everseen/core/spec.hpp"

/// How time maps to slices: pure functions, the time is always passed in.
///
/// Slice i covers [i, i+1) * slice_width since 1970, so every process cuts time at the same places. With the
/// newest slice N, slices N - slices .. N are live: a key first met anywhere in slice i is forgotten when
/// slice i + slices + 1 begins, which is at least `width` and at most `width` + one slice later.
namespace everseen::window {

using slice_index = std::int64_t;

/// The only slice of a filter without a window.
inline constexpr slice_index timeless = 0;

[[nodiscard]] slice_index slice_at(const window_spec& w, event_time t) noexcept;

/// The first moment of a slice.
[[nodiscard]] event_time start_of(const window_spec& w, slice_index slice) noexcept;

/// The oldest slice still remembered when `newest` is the newest.
[[nodiscard]] slice_index oldest_live(const window_spec& w, slice_index newest) noexcept;

/// Slices that can be live at once: the ones that share the error rate.
[[nodiscard]] std::uint32_t live_slices(const window_spec& w) noexcept;

}  // namespace everseen::window
