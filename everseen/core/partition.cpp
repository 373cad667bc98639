#include "everseen/core/partition.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "everseen/core/assert.hpp"
#include "everseen/core/growth.hpp"
#include "everseen/core/kernels.hpp"

namespace everseen {

std::uint64_t partition_state::keys() const noexcept {
  std::uint64_t sum = 0;
  for (const slice_state& slice : slices)
    for (const layer_state& layer : slice.layers) sum += layer.keys;
  return sum;
}

std::uint64_t partition_state::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const slice_state& slice : slices)
    for (const layer_state& layer : slice.layers) sum += layer.shape.bytes;
  return sum;
}

/// Keys that still wait for their verdict, on their way through the segments.
///
/// Each segment settles the keys it holds; the rest move up, so that the next kernel sees them side by side.
/// A run that meets only one segment, the usual case, is judged in place and copies nothing.
class partition::run {
 public:
  static constexpr std::size_t max_keys = 2048;

  run(std::span<const digest> keys, verdict* out) noexcept : pending_(keys), out_(out) {
    EVERSEEN_ASSERT(keys.size() <= max_keys);
  }

  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }

  /// Settles the keys that the segment holds as seen.
  void look_up(const std::byte* segment, const geometry& shape) noexcept {
    if (pending_.empty()) return;
    const std::uint64_t missing = best_kernel().check(segment, shape, pending_, judged_.data());
    if (missing < pending_.size()) keep_fresh();
  }

  /// Adds the first `count` keys and settles them. Returns how many were fresh.
  std::uint64_t add(std::byte* segment, const geometry& shape, std::size_t count) noexcept {
    const auto keys = pending_.first(count);
    std::uint64_t added = 0;
    if (where_ == nullptr) {
      added = best_kernel().add(segment, shape, keys, out_);
      out_ += count;
    } else {
      added = best_kernel().add(segment, shape, keys, judged_.data());
      for (std::size_t i = 0; i < count; ++i) out_[where_[i]] = judged_[i];
      where_ += count;
    }
    pending_ = pending_.subspan(count);
    fresh_ += added;
    return added;
  }

  /// Gives all that is left the same verdict.
  void settle_rest(verdict v) noexcept {
    for (std::size_t i = 0; i < pending_.size(); ++i) out_[where_ == nullptr ? i : where_[i]] = v;
    if (v == verdict::fresh) fresh_ += pending_.size();
    pending_ = {};
  }

 private:
  void keep_fresh() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto place = where_ == nullptr ? static_cast<std::uint16_t>(i) : where_[i];
      out_[place] = judged_[i] == verdict::seen ? verdict::seen : verdict::unknown;
      kept_[kept] = pending_[i];
      kept_where_[kept] = place;
      kept += judged_[i] == verdict::fresh;  // no branch: which keys are repeats is anybody's guess
    }
    pending_ = {kept_.data(), kept};
    where_ = kept_where_.data();
  }

  std::span<const digest> pending_;       // in the caller's batch at first, in kept_ once a key was settled
  const std::uint16_t* where_ = nullptr;  // place in out_ of each pending key; null: its own number
  verdict* out_;
  std::uint64_t fresh_ = 0;
  std::array<verdict, max_keys> judged_;  // the arrays stay uninitialised: writing them first would cost as
  std::array<digest, max_keys> kept_;     // much as judging
  std::array<std::uint16_t, max_keys> kept_where_;
};

partition::partition(const spec& s, std::uint32_t number, segments& place, partition_state state)
    : spec_(s), number_(number), place_(place), state_(std::move(state)) {}

batch_result partition::add(const partition_batch& batch) {
  std::fill(batch.out.begin(), batch.out.end(), verdict::unknown);
  tally done;
  std::optional<batch_failure> failure;
  try {
    for_each_run(batch, [&](window::slice_index slice, std::size_t from, std::size_t count) {
      run keys(batch.digests.subspan(from, count), batch.out.data() + from);
      if (is_late(slice)) {
        keys.settle_rest(verdict::late);
        done.late += count;
        return;
      }
      const auto note_settled = [&] {
        done.fresh += keys.fresh();
        done.seen += count - keys.fresh() - keys.size();
      };
      try {
        add_run(slice, keys);
      } catch (const full_error&) {  // a full filter still answers for the keys that it holds
        if (!failure) failure = batch_failure::from_current_exception();
      } catch (...) {
        note_settled();
        throw;
      }
      note_settled();
    });
  } catch (...) {
    failure = batch_failure::from_current_exception();
  }
  if (!failure) return done;
  failure->done = done;
  failure->done.unknown = batch.digests.size() - done.keys();
  return tl::unexpected(*std::move(failure));
}

tally partition::check(const partition_batch& batch) const noexcept {
  tally done;
  for_each_run(batch, [&](window::slice_index slice, std::size_t from, std::size_t count) {
    run keys(batch.digests.subspan(from, count), batch.out.data() + from);
    if (is_late(slice)) {
      keys.settle_rest(verdict::late);
      done.late += count;
      return;
    }
    for_each_live_segment(slice, [&](const segment_id& id, const layer_state& layer) {
      keys.look_up(place_.at(id), layer.shape);
    });
    keys.settle_rest(verdict::fresh);
    done.fresh += keys.fresh();
    done.seen += count - keys.fresh();
  });
  return done;
}

template <typename Judge>
void partition::for_each_run(const partition_batch& batch, Judge judge) const {
  EVERSEEN_ASSERT(batch.out.size() == batch.digests.size());
  const std::size_t n = batch.digests.size();
  for (std::size_t from = 0; from < n;) {
    const window::slice_index slice = slice_of(batch, from);
    const std::size_t limit = std::min(n, from + run::max_keys);
    std::size_t to = limit;
    if (spec_.window && batch.times.size() > 1)
      for (to = from + 1; to < limit && slice_of(batch, to) == slice;) ++to;
    judge(slice, from, to - from);
    from = to;
  }
}

template <typename Visit>
void partition::for_each_live_segment(window::slice_index now, Visit visit) const {
  for (const slice_state& slice : state_.slices) {
    if (spec_.window && slice.index < window::oldest_live(*spec_.window, std::max(now, newest()))) continue;
    for (std::uint32_t i = 0; i < slice.layers.size(); ++i)
      visit(segment_id{number_, slice.index, i}, slice.layers[i]);
  }
}

window::slice_index partition::slice_of(const partition_batch& batch, std::size_t i) const noexcept {
  if (!spec_.window) return window::timeless;
  EVERSEEN_ASSERT(batch.times.size() == 1 || batch.times.size() == batch.digests.size());
  return window::slice_at(*spec_.window, batch.times[batch.times.size() == 1 ? 0 : i]);
}

window::slice_index partition::newest() const noexcept {
  return state_.slices.back().index;
}

bool partition::is_late(window::slice_index slice) const noexcept {
  return spec_.window && !state_.slices.empty() && slice < window::oldest_live(*spec_.window, newest());
}

void partition::add_run(window::slice_index index, run& keys) {
  slice_state& target = open_slice(index);
  const segment_id written = {number_, index, static_cast<std::uint32_t>(target.layers.size() - 1)};
  for_each_live_segment(index, [&](const segment_id& id, const layer_state& layer) {
    if (id != written) keys.look_up(place_.at(id), layer.shape);
  });
  fill_newest_layer(target, keys);
}

slice_state& partition::open_slice(window::slice_index index) {
  auto& slices = state_.slices;
  auto at = std::lower_bound(slices.begin(), slices.end(), index,
                             [](const slice_state& s, window::slice_index i) { return s.index < i; });
  if (at != slices.end() && at->index == index) return *at;

  slice_state opened{index, {}};
  const auto place = at - slices.begin();
  slices.reserve(slices.size() + 1);
  grow(opened);
  slices.insert(slices.begin() + place, std::move(opened));
  if (spec_.window) {
    const window::slice_index oldest = window::oldest_live(*spec_.window, newest());
    if (slices.front().index < oldest) {
      place_.drop_before(number_, oldest);
      std::erase_if(slices, [&](const slice_state& s) { return s.index < oldest; });
    }
  }
  return *std::find_if(slices.begin(), slices.end(), [&](const slice_state& s) { return s.index == index; });
}

void partition::forget() {
  place_.drop_before(number_, std::numeric_limits<window::slice_index>::max());
  state_ = {};
}

layer_state& partition::grow(slice_state& slice) {
  const auto index = static_cast<std::uint32_t>(slice.layers.size());
  const growth::layer_plan plan = growth::plan_layer(spec_, index);
  slice.layers.reserve(index + 1);  // what can fail comes before what is remembered
  place_.create({number_, slice.index, index}, plan.shape, plan.capacity);
  return slice.layers.emplace_back(layer_state{plan.shape, plan.capacity, 0});
}

void partition::fill_newest_layer(slice_state& slice, run& keys) {
  while (keys.size() > 0) {
    layer_state& layer = slice.layers.back();
    const segment_id id = {number_, slice.index, static_cast<std::uint32_t>(slice.layers.size() - 1)};
    std::byte* bits = place_.at(id);
    const std::uint64_t room = layer.capacity - std::min(layer.capacity, layer.keys);
    std::size_t count = keys.size();
    if (count > room && spec_.growth != growth_kind::overfill) {
      // Near its end a layer must not be asked to add more keys than it has room for, and which of these keys
      // it holds already is unknown: sort those out first, then fill it to the last place.
      keys.look_up(bits, layer.shape);
      if (keys.size() == 0) return;
      if (room == 0) {
        if (spec_.growth == growth_kind::refuse)
          throw full_error("the filter is full: it was created for " + std::to_string(spec_.capacity) +
                           " keys without growth; create a larger one, or one that grows");
        grow(slice);
        continue;
      }
      count = static_cast<std::size_t>(std::min<std::uint64_t>(keys.size(), room));
    }
    layer.keys += keys.add(bits, layer.shape, count);
    place_.note_keys(id, layer.keys);
  }
}

}  // namespace everseen
