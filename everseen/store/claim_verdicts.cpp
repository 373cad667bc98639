#include "everseen/store/claim_verdicts.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "everseen/core/growth.hpp"
#include "everseen/core/window.hpp"

namespace everseen {

namespace {

using window::slice_index;

struct low_bits {
  std::size_t operator()(const digest& d) const noexcept { return d.low ^ d.high; }
};

/// The events of a batch, one after the other.
class teller {
 public:
  teller(const partition& in, const spec& s) : state_(in.state()), spec_(s) {
    if (!state_.slices.empty()) newest_ = state_.slices.back().index;
  }

  /// @param from_bits  what the partition says of the key as it is
  /// @return nothing: there is no room for it
  std::optional<verdict> tell(const digest& key, slice_index slice, verdict from_bits) {
    if (has_left(slice)) return verdict::late;
    newest_ = std::max(newest_.value_or(slice), slice);
    if (from_bits != verdict::fresh) return verdict::seen;
    const auto before = own_.find(key);
    if (before != own_.end() && !has_left(before->second)) return verdict::seen;
    if (!takes_room(slice)) return std::nullopt;
    own_.insert_or_assign(key, slice);
    oldest_own_ = std::min(oldest_own_.value_or(slice), slice);
    return verdict::fresh;
  }

  /// Whether the window has left a slice that the partition has, or will have once these keys are added, so
  /// that its bits say too much.
  [[nodiscard]] bool has_outdated_bits() const noexcept {
    return (!state_.slices.empty() && has_left(state_.slices.front().index)) ||
           (oldest_own_ && has_left(*oldest_own_));
  }

 private:
  [[nodiscard]] bool has_left(slice_index slice) const noexcept {
    return spec_.window && newest_ && slice < window::oldest_live(*spec_.window, *newest_);
  }

  bool takes_room(slice_index slice) {
    if (spec_.growth != growth_kind::refuse) return true;
    auto [room, is_new] = rooms_.try_emplace(slice, 0);
    if (is_new) room->second = room_in(slice);
    if (room->second == 0) return false;
    --room->second;
    return true;
  }

  [[nodiscard]] std::uint64_t room_in(slice_index slice) const {
    for (const slice_state& s : state_.slices)
      if (s.index == slice)
        return s.layers.back().capacity - std::min(s.layers.back().capacity, s.layers.back().keys);
    return growth::plan_layer(spec_, 0).capacity;
  }

  const partition_state& state_;
  const spec& spec_;
  std::optional<slice_index> newest_{};
  std::unordered_map<digest, slice_index, low_bits> own_{};
  std::optional<slice_index> oldest_own_{};
  std::map<slice_index, std::uint64_t> rooms_{};
};

batch_failure full_failure(const spec& s) {
  return {batch_failure::cause::full,
          "the filter is full: it was created for " + std::to_string(s.capacity) +
              " keys without growth; create a larger one, or one that grows",
          {}};
}

}  // namespace

claim_reach foretell(const partition& in, const spec& s, const claim_batch& batch) {
  const partition_batch& keys = batch.keys;
  (void)in.check(keys);
  teller t(in, s);
  const bool had_outdated_bits = t.has_outdated_bits();
  for (std::size_t i = 0; i < keys.digests.size(); ++i) {
    const auto slice =
        s.window ? window::slice_at(*s.window, keys.times[keys.times.size() == 1 ? 0 : i]) : window::timeless;
    const auto told = t.tell(keys.digests[i], slice, keys.out[i]);
    if (!told) {
      std::fill(keys.out.begin() + static_cast<std::ptrdiff_t>(i), keys.out.end(), verdict::unknown);
      return {i, full_failure(s)};
    }
    keys.out[i] = *told;
    if (!had_outdated_bits && t.has_outdated_bits()) {
      std::fill(keys.out.begin() + static_cast<std::ptrdiff_t>(i + 1), keys.out.end(), verdict::unknown);
      return {i + 1, {}};
    }
  }
  return {keys.digests.size(), {}};
}

}  // namespace everseen
