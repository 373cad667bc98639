#include "everseen/core/partition/partition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/kernel/first_touch.hpp"
#include "everseen/core/kernel/kernels.hpp"
#include "everseen/core/partition/pending_keys.hpp"
#include "everseen/core/partition/slice_groups.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {

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
  for (const journal_record::piece& piece : record.pieces)
    if (!is_late(piece.slice)) apply(piece);
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
    if (has_untouched_pages(layer.shape, layer.keys))
      write_first(bits, layer.shape, keys.pending().first(count));
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
    std::byte* const bits = place_.at(id);
    if (has_untouched_pages(layer.shape, layer.keys)) write_first(bits, layer.shape, keys.first(count));
    best_kernel().add(bits, layer.shape, keys.first(count), ignored.data());
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

}  // namespace everseen
