#include "everseen/core/partition/rates.hpp"

#include <algorithm>
#include <cmath>

#include "everseen/core/layout/set_bits.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

namespace {

double by_counts(const layer_state& layer) {
  return sizing::keys_from_counted(layer.shape, static_cast<double>(layer.keys));
}

/// Past its capacity, and so far that the two ways to judge differ.
bool is_overfilled(const layer_state& layer) noexcept {
  constexpr double notable = 0.03;
  return layer.keys > layer.capacity &&
         sizing::error_rate(layer.shape, static_cast<double>(layer.keys)) > notable;
}

}  // namespace

double given_keys_of(const layer_state& layer, std::span<const std::byte> bits) noexcept {
  constexpr std::uint64_t too_few = 32;  // bits that are not set: their number varies too much to tell
  if (!is_overfilled(layer)) return by_counts(layer);
  const std::uint64_t set = count_set_bits(bits), unset = layer.shape.bits() - set;
  const auto at_least = [&](std::uint64_t set_at_least) {
    return std::max(static_cast<double>(layer.keys), sizing::keys_from_set_bits(layer.shape, set_at_least));
  };
  if (unset >= too_few) return at_least(set);
  // With so few, chance decides whether the estimate is large or infinite. Two standard deviations fewer set
  // bits give a number that was given almost certainly; the count, which ends where it says too little, is
  // the upper bound.
  const auto deviation = static_cast<std::uint64_t>(std::ceil(2 * std::sqrt(static_cast<double>(unset) + 1)));
  return std::min(at_least(set - deviation), by_counts(layer));
}

bool given_keys::needs_bits(const partition_state& state) noexcept {
  return std::ranges::any_of(
      state.slices, [](const slice_state& s) { return std::ranges::any_of(s.layers, is_overfilled); });
}

void given_keys::count(const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
  if (is_overfilled(layer)) by_bits_[{id.slice, id.layer}] = given_keys_of(layer, bits);
}

bool given_keys::is_known(const slice_state& slice, std::size_t layer) const {
  return by_bits_.contains({slice.index, layer});
}

double given_keys::of(const slice_state& slice, std::size_t layer) const {
  const auto known = by_bits_.find({slice.index, layer});
  if (known != by_bits_.end()) return known->second;
  return are_estimates_ ? static_cast<double>(slice.layers[layer].keys) : by_counts(slice.layers[layer]);
}

double error_rate_now(const spec& s, const partition_state& state, const given_keys& given) {
  double log_right = 0;  // log P(no false positive); 1 - rate would lose the digits of small rates
  for (const slice_state& slice : state.slices) {
    if (s.window && slice.index < window::oldest_live(*s.window, state.slices.back().index)) continue;
    for (std::size_t i = 0; i < slice.layers.size(); ++i)
      log_right += std::log1p(-sizing::error_rate(slice.layers[i].shape, given.of(slice, i)));
  }
  return 0.0 - std::expm1(log_right);  // a plain negation would give -0 for an empty filter
}

double expected_false_seen(const partition_state& state, const given_keys& given) {
  double expected = 0;
  double complete = 0;  // summed rate of the earlier segments
  for (const slice_state& slice : state.slices)
    for (std::size_t i = 0; i < slice.layers.size(); ++i) {
      const layer_state& layer = slice.layers[i];
      const double keys = given.of(slice, i);
      expected += complete * keys;
      expected += given.is_known(slice, i) ? keys - static_cast<double>(layer.keys)
                                           : sizing::expected_false_positives(layer.shape, {0, keys});
      complete += sizing::error_rate(layer.shape, keys);
    }
  return expected;
}

}  // namespace everseen
