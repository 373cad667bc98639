#include "everseen/core/partition/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/kernel/kernels.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/partition/slice_groups.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {

/// Keys without a verdict yet, on their way through the segments.
///
/// Each segment judges the keys that it holds; the others are compacted for the next kernel call. Keys that
/// meet only one segment, the usual case, are judged in place without a copy.
class pending_keys {
 public:
  static constexpr std::size_t max_keys = slice_groups::max_keys;

  /// @param places  where in `out` each key's verdict goes; null: its own index
  explicit pending_keys(std::span<const digest> keys, verdict* out,
                        const std::uint16_t* places = nullptr) noexcept
      : pending_(keys), where_(places), out_(out) {
    EVERSEEN_ASSERT(keys.size() <= max_keys);
  }

  [[nodiscard]] std::span<const digest> pending() const noexcept { return pending_; }
  [[nodiscard]] const std::uint16_t* places() const noexcept { return where_; }
  [[nodiscard]] std::size_t place(std::size_t i) const noexcept { return where_ == nullptr ? i : where_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }

  /// Marks the keys that the segment holds as seen.
  void look_up(const std::byte* segment, const geometry& shape) noexcept {
    if (pending_.empty()) return;
    const std::uint64_t missing = best_kernel().check(segment, shape, pending_, judged_.data());
    if (missing < pending_.size()) keep_fresh();
  }

  /// Adds the first `count` keys and stores their verdicts. Returns the number of fresh ones.
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

  /// Marks the keys whose places are late.
  template <typename IsLate>
  void mark_late(IsLate is_late) noexcept {
    bool any = false;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      judged_[i] = is_late(place(i)) ? verdict::late : verdict::fresh;
      any = any || judged_[i] == verdict::late;
    }
    if (any) keep_fresh();
  }

  /// Gives all remaining keys the same verdict.
  void mark_rest(verdict v) noexcept {
    for (std::size_t i = 0; i < pending_.size(); ++i) out_[place(i)] = v;
    if (v == verdict::fresh) fresh_ += pending_.size();
    pending_ = {};
  }

 private:
  /// Stores the verdicts that are not fresh, and keeps the other keys.
  void keep_fresh() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto target = static_cast<std::uint16_t>(place(i));
      out_[target] = judged_[i] == verdict::fresh ? verdict::unknown : judged_[i];
      kept_[kept] = pending_[i];
      kept_where_[kept] = target;
      kept += judged_[i] == verdict::fresh;  // no branch: repeats are unpredictable
    }
    pending_ = {kept_.data(), kept};
    where_ = kept_where_.data();
  }

  std::span<const digest> pending_;  // in the caller's batch, or in kept_ once a key was judged
  const std::uint16_t* where_;       // place in out_ of each pending key; null: its own index
  verdict* out_;
  std::uint64_t fresh_ = 0;
  std::array<verdict, max_keys> judged_;  // the arrays stay uninitialised, since writing
  std::array<digest, max_keys> kept_;     // them would cost as much as judging
  std::array<std::uint16_t, max_keys> kept_where_;
};

namespace {

/// Counts verdicts, except `unknown`.
tally count_answers(std::span<const verdict> verdicts) noexcept {
  tally sum = tally_of(verdicts);
  sum.unknown = 0;
  return sum;
}

}  // namespace

partition::partition(const spec& s, std::uint32_t number, segments& place, partition_state state)
    : spec_(s), number_(number), place_(place), state_(std::move(state)) {}

batch_result partition::add(const partition_batch& batch) {
  std::fill(batch.out.begin(), batch.out.end(), verdict::unknown);
  tally done;
  std::optional<batch_failure> failure;
  // Only the first key of a run moves the window. If keys may be refused, the order of all keys decides
  // which ones find room; a run then has keys of one slice only.
  const auto reach = [&](window::slice_index first) -> slice_range {
    if (spec_.growth == growth_kind::refuse) return {first, first};
    return {std::numeric_limits<window::slice_index>::min(), newest_or(first)};
  };
  try {
    for_each_run(batch, reach, [&](const partition_batch& key_run, bool mixed) {
      try {
        mixed ? add_mixed(key_run, done) : add_alike(key_run, done);
      } catch (const full_error&) {  // a full filter still answers for the keys that it holds
        if (!failure) failure = batch_failure::from_current_exception();
      }
    });
  } catch (...) {
    failure = batch_failure::from_current_exception();
  }
  if (!failure) return done;
  failure->done = done;
  failure->done.unknown = batch.digests.size() - done.keys();
  return tl::unexpected(*std::move(failure));
}

/// For keys of one slice.
void partition::add_alike(const partition_batch& key_run, tally& done) {
  const window::slice_index slice = slice_of(key_run, 0);
  const std::size_t count = key_run.digests.size();
  pending_keys keys(key_run.digests, key_run.out.data());
  if (is_late(slice)) {
    keys.mark_rest(verdict::late);
    done.late += count;
    return;
  }
  const auto count_judged = [&] {
    done.fresh += keys.fresh();
    done.seen += count - keys.fresh() - keys.size();
  };
  try {
    add_run(slice, keys);
  } catch (...) {
    count_judged();
    throw;
  }
  count_judged();
}

void partition::add_mixed(const partition_batch& key_run, tally& done) {
  try {
    judge_mixed(key_run);
  } catch (...) {
    done += count_answers(key_run.out);
    throw;
  }
  done += count_answers(key_run.out);
}

/// For keys of several slices. Only the first key may move the window.
void partition::judge_mixed(const partition_batch& key_run) {
  std::array<window::slice_index, pending_keys::max_keys> slices;
  for (std::size_t i = 0; i < key_run.digests.size(); ++i) slices[i] = slice_of(key_run, i);
  if (!is_late(slices.front())) open_slice(slices.front());
  pending_keys keys(key_run.digests, key_run.out.data());
  keys.mark_late([&](std::size_t place) { return is_late(slices[place]); });
  for (std::size_t i = 0; i < keys.size(); ++i) open_slice(slices[keys.place(i)]);
  for_each_live_segment(newest(), [&](const segment_id& id, const layer_state& layer) {
    keys.look_up(place_.at(id), layer.shape);
  });

  const slice_groups groups(keys.pending(), keys.places(), slices);
  std::exception_ptr full;
  groups.for_each([&](const slice_groups::group& group) {
    pending_keys of_slice(group.keys, key_run.out.data(), group.places);
    try {
      fill_newest_layer(open_slice(group.slice), of_slice);
    } catch (const full_error&) {  // other slices may have room
      full = std::current_exception();
    }
  });
  groups.mark_repeats(key_run.out.data());
  if (full) std::rethrow_exception(full);
}

void partition::move_window(event_time time) {
  EVERSEEN_ASSERT(spec_.window);
  const window::slice_index slice = window::slice_at(*spec_.window, time);
  if (!is_late(slice)) open_slice(slice);
}

void partition::apply(const journal_record& record) {
  if (!is_late(record.newest)) open_slice(record.newest);
  std::span<const digest> rest = record.keys;
  for (const journal_record::group& group : record.groups) {
    // A slice that the record itself expires was never visible.
    if (!is_late(group.slice)) insert(open_slice(group.slice), rest.first(group.keys));
    rest = rest.subspan(group.keys);
  }
}

tally partition::check(const partition_batch& batch) const noexcept {
  tally done;
  // Keys whose slices are not newer than the newest one are compared with the same segments.
  const auto reach = [&](window::slice_index first) -> slice_range {
    if (state_.slices.empty() || first > newest()) return {first, first};
    return {std::numeric_limits<window::slice_index>::min(), newest()};
  };
  for_each_run(batch, reach, [&](const partition_batch& key_run, bool) {
    pending_keys keys(key_run.digests, key_run.out.data());
    if (spec_.window) keys.mark_late([&](std::size_t i) { return is_late(slice_of(key_run, i)); });
    const std::size_t late = key_run.digests.size() - keys.size();
    for_each_live_segment(slice_of(key_run, 0), [&](const segment_id& id, const layer_state& layer) {
      keys.look_up(place_.at(id), layer.shape);
    });
    keys.mark_rest(verdict::fresh);
    done.late += late;
    done.fresh += keys.fresh();
    done.seen += key_run.digests.size() - late - keys.fresh();
  });
  return done;
}

template <typename Reach, typename Judge>
void partition::for_each_run(const partition_batch& batch, Reach reach, Judge judge) const {
  EVERSEEN_ASSERT(batch.out.size() == batch.digests.size());
  const std::size_t n = batch.digests.size();
  const bool own_times = spec_.window && batch.times.size() > 1;
  std::array<digest, pending_keys::max_keys> lengthened_digests;  // uninitialised past its used part
  for (std::size_t from = 0; from < n;) {
    std::size_t count = std::min(n - from, pending_keys::max_keys);
    bool mixed = false;
    if (own_times) {
      const window::slice_index first = slice_of(batch, from);
      const slice_range wanted = reach(first);
      std::size_t taken = 1;
      for (; taken < count; ++taken) {
        const window::slice_index slice = slice_of(batch, from + taken);
        if (slice < wanted.oldest || slice > wanted.newest) break;
        mixed = mixed || slice != first;
      }
      count = taken;
    }
    std::span<const digest> digests = batch.digests.subspan(from, count);
    if (is_short(spec_.hash)) {  // the bits of a key are those that readers of a journal set
      std::ranges::transform(digests, lengthened_digests.begin(),
                             [](const digest& d) { return lengthened(d.low); });
      digests = std::span(lengthened_digests).first(count);
    }
    judge({batch.partition, digests, own_times ? batch.times.subspan(from, count) : batch.times,
           batch.out.subspan(from, count)},
          mixed);
    from += count;
  }
}

template <typename Visit>
void partition::for_each_live_segment(window::slice_index current, Visit visit) const {
  for (const slice_state& slice : state_.slices) {
    if (spec_.window && slice.index < window::oldest_live(*spec_.window, std::max(current, newest())))
      continue;
    for (std::uint32_t i = 0; i < slice.layers.size(); ++i)
      visit(segment_id{number_, slice.index, i}, slice.layers[i]);
  }
}

window::slice_index partition::slice_of(const partition_batch& batch, std::size_t i) const noexcept {
  if (!spec_.window) return window::timeless;
  EVERSEEN_ASSERT(batch.times.size() == 1 || batch.times.size() == batch.digests.size());
  return window::slice_at(*spec_.window, batch.times[batch.times.size() == 1 ? 0 : i]);
}

bool partition::is_late(window::slice_index slice) const noexcept {
  return spec_.window && !state_.slices.empty() && slice < window::oldest_live(*spec_.window, newest());
}

void partition::add_run(window::slice_index index, pending_keys& keys) {
  slice_state& target = open_slice(index);
  const segment_id written = {number_, index, static_cast<std::uint32_t>(target.layers.size() - 1)};
  for_each_live_segment(index, [&](const segment_id& id, const layer_state& layer) {
    if (id != written) keys.look_up(place_.at(id), layer.shape);
  });
  fill_newest_layer(target, keys);
}

slice_state& partition::open_slice(window::slice_index index) {
  auto& slices = state_.slices;
  auto found = std::lower_bound(slices.begin(), slices.end(), index,
                                [](const slice_state& s, window::slice_index i) { return s.index < i; });
  if (found != slices.end() && found->index == index) return *found;

  slice_state opened{index, {}};
  const auto place = found - slices.begin();
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

void partition::count_at_least(const segment_id& id, std::uint64_t keys) noexcept {
  const auto slice = std::ranges::lower_bound(state_.slices, id.slice, {}, &slice_state::index);
  if (slice == state_.slices.end() || slice->index != id.slice || id.layer >= slice->layers.size()) return;
  layer_state& layer = slice->layers[id.layer];
  if (spec_.growth != growth_kind::overfill) keys = std::min(keys, layer.capacity);
  if (keys <= layer.keys) return;
  layer.keys = keys;
  place_.note_keys(id, keys);
}

void partition::forget() {
  place_.drop_before(number_, std::numeric_limits<window::slice_index>::max());
  state_ = {};
}

layer_state& partition::grow(slice_state& slice) {
  const auto index = static_cast<std::uint32_t>(slice.layers.size());
  const growth::layer_plan plan = growth::plan_layer(spec_, index);
  slice.layers.reserve(index + 1);  // may throw, so it comes before any change
  place_.create({number_, slice.index, index}, plan.shape, plan.capacity);
  return slice.layers.emplace_back(layer_state{plan.shape, plan.capacity, 0});
}

void partition::fill_newest_layer(slice_state& slice, pending_keys& keys) {
  while (keys.size() > 0) {
    layer_state& layer = slice.layers.back();
    const segment_id id = {number_, slice.index, static_cast<std::uint32_t>(slice.layers.size() - 1)};
    std::byte* bits = place_.at(id);
    const std::uint64_t room = layer.capacity - std::min(layer.capacity, layer.keys);
    std::size_t count = keys.size();
    if (count > room && spec_.growth != growth_kind::overfill) {
      // A nearly full layer must not receive more keys than it has room for, and which of these keys it
      // already holds is unknown. Settle those first, then fill the layer exactly.
      keys.look_up(bits, layer.shape);
      if (keys.size() == 0) return;
      if (room == 0) {
        if (spec_.growth == growth_kind::refuse) throw growth::no_room(spec_);
        grow(slice);
        continue;
      }
      count = static_cast<std::size_t>(std::min<std::uint64_t>(keys.size(), room));
    }
    place_.expect_keys(id, layer.keys + count);
    layer.keys += keys.add(bits, layer.shape, count);
    place_.note_keys(id, layer.keys);
  }
}

/// Fills layers in order, each exactly to its capacity.
void partition::insert(slice_state& slice, std::span<const digest> keys) {
  std::array<verdict, pending_keys::max_keys> ignored;
  while (!keys.empty()) {
    layer_state& layer = slice.layers.back();
    std::size_t count = std::min(keys.size(), pending_keys::max_keys);
    if (spec_.growth != growth_kind::overfill) {
      const std::uint64_t room = layer.capacity - std::min(layer.capacity, layer.keys);
      if (room == 0) {
        if (spec_.growth == growth_kind::refuse)
          throw format_error("a record of the journal has keys for which the filter has no room");
        grow(slice);
        continue;
      }
      count = static_cast<std::size_t>(std::min<std::uint64_t>(count, room));
    }
    const segment_id id = {number_, slice.index, static_cast<std::uint32_t>(slice.layers.size() - 1)};
    place_.expect_keys(id, layer.keys + count);
    best_kernel().add(place_.at(id), layer.shape, keys.first(count), ignored.data());
    layer.keys += count;
    place_.note_keys(id, layer.keys);
    keys = keys.subspan(count);
  }
}

const layer_state* partition::find_layer(const segment_id& id) const noexcept {
  const auto slice = std::ranges::lower_bound(state_.slices, id.slice, {}, &slice_state::index);
  if (slice == state_.slices.end() || slice->index != id.slice || id.layer >= slice->layers.size())
    return nullptr;
  return &slice->layers[id.layer];
}

std::uint64_t partition::keys_with(const sibling_segment& other) const {
  const layer_state* const mine = find_layer(other.id);
  return mine == nullptr ? other.layer.keys : keys_of_union(*mine, place_.at(other.id), other);
}

void partition::must_fit(std::span<const sibling_segment> sibling) const {
  if (sibling.empty()) return;
  const window::slice_index newest = newest_or(sibling.back().id.slice);
  for (const sibling_segment& other : sibling) {
    if (spec_.window && other.id.slice < window::oldest_live(*spec_.window, newest)) continue;
    const layer_state* const mine = find_layer(other.id);
    const growth::layer_plan plan = growth::plan_layer(spec_, other.id.layer);
    const geometry& shape = mine == nullptr ? plan.shape : mine->shape;
    const std::uint64_t capacity = mine == nullptr ? plan.capacity : mine->capacity;
    if (other.layer.shape != shape || other.layer.capacity != capacity || other.bits.size() != shape.bytes)
      throw parameter_error("the filters differ in the size of layer " + std::to_string(other.id.layer) +
                            "; they cannot be merged");
    if (spec_.growth == growth_kind::overfill) continue;
    const std::uint64_t keys = keys_with(other);
    if (!sizing::is_more_than_chance(static_cast<double>(keys), capacity)) continue;
    throw full_error("together a layer would have " + std::to_string(keys) + " keys instead of at most " +
                     std::to_string(capacity));
  }
}

void partition::merge(std::span<const sibling_segment> sibling) {
  must_fit(sibling);
  // The newest slice first, so that no older one is filled only to be dropped.
  if (!sibling.empty() && !is_late(sibling.back().id.slice)) open_slice(sibling.back().id.slice);
  for (const sibling_segment& other : sibling) {
    if (is_late(other.id.slice)) continue;
    slice_state& slice = open_slice(other.id.slice);
    while (slice.layers.size() <= other.id.layer) grow(slice);
    layer_state& layer = slice.layers[other.id.layer];
    std::uint64_t keys = keys_with(other);
    if (spec_.growth != growth_kind::overfill) keys = std::min(keys, layer.capacity);
    place_.expect_keys(other.id, keys);
    std::byte* const bits = place_.at(other.id);
    std::transform(other.bits.begin(), other.bits.end(), bits, bits, std::bit_or<>());
    layer.keys = keys;
    place_.note_keys(other.id, keys);
  }
}

}  // namespace everseen
