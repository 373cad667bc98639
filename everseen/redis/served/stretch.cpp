#include "everseen/redis/served/stretch.hpp"

#include <algorithm>
#include <limits>

namespace everseen::redis {

namespace {

using window::slice_index;

/// Whether both are within what a byte a key can tell apart, beside the late ones.
bool are_near(slice_index lowest, slice_index highest) noexcept {
  constexpr std::uint64_t reach = 255;
  return static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) < reach;
}

/// Takes keys one after the other, as long as they may share a call.
class cutter {
 public:
  cutter(const spec& s, const remote_partition& known, mixing allowed)
      : known_(known), allowed_(allowed), is_new_(known.slices.empty()) {
    if (!is_new_) oldest_ = window::oldest_live(*s.window, known.newest());
  }

  /// Late ones count as one slice, the last that is late.
  [[nodiscard]] slice_index level(slice_index slice) const noexcept {
    return slice < oldest_ ? oldest_ - 1 : slice;
  }
  [[nodiscard]] bool is_late(slice_index slice) const noexcept { return slice < oldest_; }

  void begin(slice_index first) {
    last_ = lowest_ = highest_ = first;
    // A slice that is to be made first, and one newer than all, look at what no other key does.
    const bool alone = allowed_ == mixing::made ? !is_late(first) && known_.find(first) == nullptr
                                                : allowed_ == mixing::lookup && is_newer(first);
    if (alone) allowed_ = mixing::none;
  }
  bool takes(slice_index slice) {
    if (slice == last_) return true;
    if (!may_join(slice)) return false;
    last_ = slice;
    lowest_ = std::min(lowest_, slice);
    highest_ = std::max(highest_, slice);
    return true;
  }
  [[nodiscard]] slice_index named() const noexcept {
    return allowed_ == mixing::lookup && lowest_ != highest_ ? known_.newest() : lowest_;
  }
  [[nodiscard]] bool differ() const noexcept { return lowest_ != highest_; }

 private:
  [[nodiscard]] bool is_newer(slice_index slice) const noexcept { return is_new_ || slice > known_.newest(); }

  bool may_join(slice_index slice) {
    switch (allowed_) {
      case mixing::none:
        return false;
      case mixing::lookup:
        return !is_newer(slice);
      case mixing::any:
      case mixing::made:
        break;
    }
    if (!are_near(std::min(lowest_, slice), std::max(highest_, slice))) return false;
    return allowed_ == mixing::any || is_late(slice) || known_.find(slice) != nullptr;
  }

  const remote_partition& known_;
  mixing allowed_;
  bool is_new_;
  slice_index oldest_ = std::numeric_limits<slice_index>::min();
  slice_index last_ = 0, lowest_ = 0, highest_ = 0;
};

}  // namespace

stretch next_stretch(const spec& s, const remote_partition& known, std::span<const event_time> times,
                     std::size_t from, std::size_t to, mixing allowed) {
  if (!s.window) return {.keys = to - from};
  cutter cut(s, known, allowed);
  const auto slice_of = [&](std::size_t key) { return cut.level(window::slice_at(*s.window, times[key])); };
  const slice_index first = slice_of(times.size() == 1 ? 0 : from);
  if (times.size() == 1) return {to - from, first, {}, cut.is_late(first)};
  cut.begin(first);
  std::size_t end = from + 1;
  while (end < to && cut.takes(slice_of(end))) ++end;
  stretch taken{end - from, cut.named(), {}, !cut.differ() && cut.is_late(first)};
  if (!cut.differ()) return taken;
  taken.slices.reserve(taken.keys);
  for (std::size_t key = from; key < end; ++key) taken.slices.push_back(slice_of(key));
  return taken;
}

}  // namespace everseen::redis
