#pragma once

#include <cstdint>
#include <span>

#include "everseen/core/spec/spec.hpp"

/// How time maps to slices. Pure functions: time is always a parameter.
///
/// Slice i covers [i, i+1) * slice_width since 1970, so every process uses the same boundaries. If N is the
/// newest slice, slices N - slices .. N are live. A key first met anywhere in slice i expires when slice i +
/// slices + 1 begins, which is at least `width` and at most `width` + one slice later.
namespace everseen::window {

using slice_index = std::int64_t;

/// The only slice of a filter without a window.
inline constexpr slice_index timeless = 0;

[[nodiscard]] slice_index slice_at(const window_spec& w, event_time t) noexcept;

/// Whether any time is in this slice: there are more slice numbers than slices.
[[nodiscard]] bool has_time(const window_spec& w, slice_index slice) noexcept;

/// The start of a slice; of the first one, the first time that there is.
[[nodiscard]] event_time start_of(const window_spec& w, slice_index slice) noexcept;

/// The oldest live slice when `newest` is the newest.
[[nodiscard]] slice_index oldest_live(const window_spec& w, slice_index newest) noexcept;

/// How far ahead of the clock the time of a key may be: one slice, or a minute if that is longer, for clocks
/// that differ; never more than the window. A key in the future makes old slices expire too early, for
/// everybody who shares the filter: by no more than this, so never that of the present.
[[nodiscard]] std::chrono::milliseconds most_ahead(const window_spec& w) noexcept;

/// The latest time of a key that a filter takes: most_ahead() after the clock.
[[nodiscard]] event_time latest_accepted(const window_spec& w, event_time clock) noexcept;

/// @throws parameter_error  a time is after latest_accepted(), or late and of this window if it is taken for
///         seconds; names the time and what may be wrong
void must_be_plausible(const window_spec& w, std::span<const event_time> times, event_time clock);

/// The number of slices that can be live simultaneously; they share the error rate.
[[nodiscard]] std::uint32_t live_slices(const window_spec& w) noexcept;

}  // namespace everseen::window
