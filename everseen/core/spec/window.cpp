#include "everseen/core/spec/window.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/time_text.hpp"

namespace everseen::window {

slice_index slice_at(const window_spec& w, event_time t) noexcept {
  const std::int64_t ms = t.time_since_epoch().count();
  const std::int64_t step = w.slice_width().count();
  const std::int64_t quotient = ms / step;
  return quotient - (ms % step < 0 ? 1 : 0);  // rounds down also before 1970
}

bool has_time(const window_spec& w, slice_index slice) noexcept {
  return slice >= slice_at(w, event_time::min()) && slice <= slice_at(w, event_time::max());
}

event_time start_of(const window_spec& w, slice_index slice) noexcept {
  const std::int64_t step = w.slice_width().count();
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
  return event_time(std::chrono::milliseconds(slice <= first / step ? first : slice * step));
}

slice_index oldest_live(const window_spec& w, slice_index newest) noexcept {
  constexpr slice_index first = std::numeric_limits<slice_index>::min();
  const auto slices = static_cast<slice_index>(w.slices);
  return newest < first + slices ? first : newest - slices;  // with 1 ms slices, `first` is the start of time
}

std::chrono::milliseconds most_ahead(const window_spec& w) noexcept {
  return std::min(w.width, std::max<std::chrono::milliseconds>(w.slice_width(), std::chrono::minutes(1)));
}

event_time latest_accepted(const window_spec& w, event_time clock) noexcept {
  const auto ahead = most_ahead(w);
  return clock > event_time::max() - ahead ? event_time::max() : clock + ahead;
}

namespace {

/// Whether a time that is late would be in the window as seconds since 1970.
bool seems_to_be_seconds(const window_spec& w, event_time t, event_time clock) noexcept {
  const auto is_late = [&](event_time time) {
    return slice_at(w, time) < oldest_live(w, slice_at(w, clock));
  };
  constexpr std::int64_t a_thousand = 1000;
  const std::int64_t count = t.time_since_epoch().count();
  if (count <= 0 || count > std::numeric_limits<std::int64_t>::max() / a_thousand || !is_late(t))
    return false;
  const auto as_seconds = event_time(std::chrono::milliseconds(count * a_thousand));
  return !is_late(as_seconds) && as_seconds <= latest_accepted(w, clock);
}

}  // namespace

void must_be_plausible(const window_spec& w, std::span<const event_time> times, event_time clock) {
  const event_time latest = latest_accepted(w, clock);
  event_time newest = event_time::min();
  event_time oldest = event_time::max();
  for (const event_time t : times) {
    newest = std::max(newest, t);
    oldest = std::min(oldest, t);
  }
  if (!times.empty() && seems_to_be_seconds(w, oldest, clock))
    throw parameter_error(
        "the time " + std::to_string(oldest.time_since_epoch().count()) +
        " seems to be in seconds: as milliseconds since 1970, which it has to be in, it is " +
        format_event_time(oldest) + "; no key was judged");
  if (newest <= latest) return;
  throw parameter_error(
      "the time " + format_event_time(newest) +
      " is too far ahead of the clock: this filter takes times up to " + format_event_time(latest) +
      ", since a later one would make keys of today late; check the unit of the time (ms since 1970) and the "
      "clock; no key was judged");
}

std::uint32_t live_slices(const window_spec& w) noexcept {
  return w.slices + 1;
}

}  // namespace everseen::window
