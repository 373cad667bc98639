#include "everseen/redis/served/key_run.hpp"

#include <algorithm>
#include <limits>

namespace everseen::redis {

namespace {

using window::slice_index;

/// Whether a byte a key distinguishes all slices between, and the late ones.
bool fit_a_byte(slice_index lowest, slice_index highest) noexcept {
  constexpr std::uint64_t reach = 255;
  return static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) < reach;
}

}  // namespace

key_run next_key_run(const spec& s, const remote_partition& known, std::span<const event_time> times,
                     std::size_t from, std::size_t to, mixing allowed) {
  if (!s.window) return {.keys = to - from};
  const bool is_new = known.slices.empty();
  const slice_index oldest =
      is_new ? std::numeric_limits<slice_index>::min() : window::oldest_live(*s.window, known.newest());
  const auto slice_of = [&](std::size_t key) {
    const slice_index slice = window::slice_at(*s.window, times[times.size() == 1 ? 0 : key]);
    return slice < oldest ? oldest - 1 : slice;
  };
  const auto may_mix = [&](slice_index slice) {
    if (allowed == mixing::lookup) return !is_new && slice <= known.newest();
    return allowed == mixing::any || slice < oldest || known.find(slice) != nullptr;
  };

  slice_index last = slice_of(from), lowest = last, highest = last;
  const bool mixes = may_mix(last);
  std::size_t end = times.size() == 1 ? to : from + 1;
  for (; end < to; ++end) {
    const slice_index slice = slice_of(end);
    if (slice == last) continue;
    const slice_index low = std::min(lowest, slice), high = std::max(highest, slice);
    if (!mixes || !may_mix(slice) || (allowed != mixing::lookup && !fit_a_byte(low, high))) break;
    last = slice, lowest = low, highest = high;
  }

  const bool differ = lowest != highest;
  key_run run{end - from, lowest};
  if (allowed == mixing::lookup && differ) run.slice = known.newest();
  if (allowed == mixing::lookup || (!differ && lowest >= oldest)) return run;
  run.slices.reserve(run.keys);
  for (std::size_t key = from; key < end; ++key) run.slices.push_back(slice_of(key));
  return run;
}

}  // namespace everseen::redis
