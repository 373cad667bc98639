#include "everseen/core/partition/prediction.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "everseen/core/spec/growth.hpp"

namespace everseen {

using window::slice_index;

/// Judges the keys of a batch one after another.
class predictor::judge {
 public:
  /// @param fresh  the most keys of the batch that can be fresh
  judge(const partition& in, const spec& s, const partition_batch& batch, std::size_t fresh,
        std::uint64_t longest_layer, std::vector<std::uint32_t>& places)
      : state_(in.state()), spec_(s), batch_(batch), longest_layer_(longest_layer), places_(places) {
    if (!state_.slices.empty()) newest_ = state_.slices.back().index;
    places_.assign(std::bit_ceil(2 * fresh + 1), 0);
  }

  /// The verdict of key `i`, given the verdict of the bits; nothing: no room.
  std::optional<verdict> operator()(std::size_t i, verdict from_bits) {
    const slice_index slice = slice_of(i);
    if (has_left(slice)) return verdict::late;
    newest_ = std::max(newest_.value_or(slice), slice);
    if (from_bits != verdict::fresh) return verdict::seen;
    std::uint32_t& before = place_of(batch_.digests[i]);
    if (before != 0 && !has_left(slice_of(before - 1))) return verdict::seen;
    if (!takes_room(slice)) return std::nullopt;
    before = static_cast<std::uint32_t>(i + 1);
    oldest_own_ = std::min(oldest_own_.value_or(slice), slice);
    return verdict::fresh;
  }

  /// Whether the window has left a slice that the partition has, or will have once these keys are added. The
  /// bits of such a slice no longer count.
  [[nodiscard]] bool has_outdated_bits() const noexcept {
    if (!spec_.window) return false;
    return (!state_.slices.empty() && has_left(state_.slices.front().index)) ||
           (oldest_own_ && has_left(*oldest_own_));
  }

  /// The number of slices of the partition that the window has left.
  [[nodiscard]] std::ptrdiff_t outdated_slices() const noexcept {
    return std::ranges::count_if(state_.slices, [this](const slice_state& s) { return has_left(s.index); });
  }

  [[nodiscard]] std::optional<slice_index> newest() const noexcept { return newest_; }

  [[nodiscard]] std::optional<slice_index> moves_to() const noexcept {
    if (!spec_.window || (!state_.slices.empty() && newest_ == state_.slices.back().index))
      return std::nullopt;
    return newest_;
  }

  [[nodiscard]] std::uint64_t new_bytes() const noexcept { return new_bytes_; }

 private:
  [[nodiscard]] slice_index slice_of(std::size_t i) const noexcept {
    if (!spec_.window) return window::timeless;
    return window::slice_at(*spec_.window, batch_.times[batch_.times.size() == 1 ? 0 : i]);
  }

  [[nodiscard]] bool has_left(slice_index slice) const noexcept {
    return spec_.window && newest_ && slice < window::oldest_live(*spec_.window, *newest_);
  }

  /// The table entry of a key, or where to insert it.
  [[nodiscard]] std::uint32_t& place_of(const digest& key) noexcept {
    const std::size_t mask = places_.size() - 1;
    // Bits of `low` selected the partition, so within one they are not uniformly distributed.
    std::size_t position = (key.high ^ key.low) & mask;
    while (places_[position] != 0 && batch_.digests[places_[position] - 1] != key)
      position = (position + 1) & mask;
    return places_[position];
  }

  /// The state of a slice after the earlier keys were added.
  struct standing {
    std::size_t layers = 0;
    std::uint64_t room = 0;  ///< in the newest layer
  };

  bool takes_room(slice_index slice) {
    if (last_ == nullptr || slice != last_slice_) look_up(slice);
    standing& current = *last_;
    if (current.layers == 0 && !add_layer(current)) return false;
    if (spec_.growth == growth_kind::overfill) return true;
    if (current.room == 0 && (spec_.growth == growth_kind::refuse || !add_layer(current))) return false;
    --current.room;
    return true;
  }

  void look_up(slice_index slice) {
    const auto [found, is_new] = slices_.try_emplace(slice);
    if (is_new) found->second = standing_of(slice);
    last_ = &found->second;
    last_slice_ = slice;
  }

  [[nodiscard]] standing standing_of(slice_index slice) const {
    for (const slice_state& s : state_.slices)
      if (s.index == slice)
        return {s.layers.size(),
                s.layers.back().capacity - std::min(s.layers.back().capacity, s.layers.back().keys)};
    return {};
  }

  bool add_layer(standing& target) {
    try {
      const growth::layer_plan next = growth::plan_layer(spec_, static_cast<unsigned>(target.layers));
      if (next.shape.bytes > longest_layer_) return false;
      new_bytes_ += next.shape.bytes;
      target = {target.layers + 1, next.capacity};
      return true;
    } catch (const full_error&) {
      return false;
    }
  }

  const partition_state& state_;
  const spec& spec_;
  const partition_batch& batch_;
  const std::uint64_t longest_layer_;
  std::vector<std::uint32_t>& places_;
  std::optional<slice_index> newest_{};
  std::optional<slice_index> oldest_own_{};
  std::map<slice_index, standing> slices_{};
  slice_index last_slice_ = 0;
  standing* last_ = nullptr;  // of last_slice_: most keys follow one of their slice
  std::uint64_t new_bytes_ = 0;
};

namespace {

constexpr std::string_view too_long = "would need a layer that is longer than its store allows";

std::size_t fresh_in(const partition_batch& batch) {
  return static_cast<std::size_t>(std::ranges::count(batch.out, verdict::fresh));
}

/// Keys ordered by slice, as a record stores them.
void sort_by_slice(journal_record& r, std::vector<std::pair<slice_index, digest>>& keys) {
  std::ranges::stable_sort(keys, {}, [](const auto& k) { return k.first; });
  for (const auto& [slice, key] : keys) {
    if (r.groups.empty() || r.groups.back().slice != slice) r.groups.push_back({slice, 0});
    ++r.groups.back().keys;
    r.keys.push_back(key);
  }
}

partition_batch rest_from(const partition_batch& batch, std::size_t first) {
  return {batch.partition, batch.digests.subspan(first),
          batch.times.size() > 1 ? batch.times.subspan(first) : batch.times, batch.out.subspan(first)};
}

/// Bits of slices that the window left when it moved to `newest` no longer count.
void look_up_again(const partition& in, const partition_batch& rest, event_time newest) {
  std::vector<event_time> times(rest.times.begin(), rest.times.end());
  for (event_time& t : times) t = std::max(t, newest);
  (void)in.check({rest.partition, rest.digests, times, rest.out});
}

}  // namespace

prediction predictor::predict(const partition& in, const spec& s, const partition_batch& batch, no_room then,
                              std::uint64_t longest_layer) {
  (void)in.check(batch);
  judge one(in, s, batch, fresh_in(batch), longest_layer, places_);
  const bool had_outdated_bits = one.has_outdated_bits();
  prediction all;
  const auto stop_behind = [&](std::size_t judged) {
    std::fill(batch.out.begin() + static_cast<std::ptrdiff_t>(judged), batch.out.end(), verdict::unknown);
    all.judged = judged;
    all.moves_to = one.moves_to();
    all.new_bytes = one.new_bytes();
    return all;
  };
  for (std::size_t i = 0; i < batch.digests.size(); ++i) {
    const auto told = one(i, batch.out[i]);
    if (!told && !all.full)
      all.full = batch_failure{batch_failure::cause::full, growth::no_room(s, too_long).what(), {}};
    if (!told && then == no_room::ends) return stop_behind(i);
    batch.out[i] = told.value_or(verdict::unknown);
    if (!had_outdated_bits && one.has_outdated_bits()) return stop_behind(i + 1);
  }
  return stop_behind(batch.digests.size());
}

prediction predictor::predict_whole(const partition& in, const spec& s, const partition_batch& batch) {
  (void)in.check(batch);
  judge one(in, s, batch, s.window ? batch.digests.size() : fresh_in(batch),
            std::numeric_limits<std::uint64_t>::max(), places_);
  prediction all{.judged = batch.digests.size()};
  std::ptrdiff_t outdated = one.outdated_slices();
  std::optional<slice_index> newest = one.newest();
  for (std::size_t i = 0; i < batch.digests.size(); ++i) {
    const auto predicted = one(i, batch.out[i]);
    if (!predicted && !all.full)
      all.full = batch_failure{batch_failure::cause::full, growth::no_room(s, too_long).what(), {}};
    batch.out[i] = predicted.value_or(verdict::unknown);
    if (newest == one.newest()) continue;
    newest = one.newest();
    if (const auto left = one.outdated_slices(); left != std::exchange(outdated, left))
      look_up_again(in, rest_from(batch, i + 1), window::start_of(*s.window, *newest));
  }
  all.moves_to = one.moves_to();
  all.new_bytes = one.new_bytes();
  return all;
}

journal_record record_of(const prediction& predicted, const partition_state& before, const spec& s,
                         const partition_batch& batch) {
  journal_record r;
  r.short_keys = is_short(s.hash);
  const auto key_of = [&](const digest& d) { return r.short_keys ? lengthened(d.low) : d; };
  const auto& slices = before.slices;
  r.newest = predicted.moves_to.value_or(slices.empty() ? window::timeless : slices.back().index);
  r.keys.reserve(static_cast<std::size_t>(std::ranges::count(batch.out, verdict::fresh)));
  std::vector<std::pair<slice_index, digest>> timed;
  for (std::size_t i = 0; i < predicted.judged; ++i) {
    if (batch.out[i] != verdict::fresh) continue;
    if (s.window)
      timed.emplace_back(window::slice_at(*s.window, batch.times[batch.times.size() == 1 ? 0 : i]),
                         key_of(batch.digests[i]));
    else
      r.keys.push_back(key_of(batch.digests[i]));
  }
  if (s.window)
    sort_by_slice(r, timed);
  else if (!r.keys.empty())
    r.groups.push_back({window::timeless, r.keys.size()});
  return r;
}

}  // namespace everseen
