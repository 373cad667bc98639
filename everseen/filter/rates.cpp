#include "everseen/filter/rates.hpp"

#include "everseen/core/sizing.hpp"
#include "everseen/core/window.hpp"

namespace everseen {

double error_rate_now(const spec& s, const partition_state& state) {
  double right = 1;
  for (const slice_state& slice : state.slices) {
    if (s.window && slice.index < window::oldest_live(*s.window, state.slices.back().index)) continue;
    for (const layer_state& layer : slice.layers)
      right *= 1 - sizing::error_rate(layer.shape, static_cast<double>(layer.keys));
  }
  return 1 - right;
}

double expected_false_seen(const partition_state& state) {
  double expected = 0;
  double complete = 0;  // rate of the segments before the present one
  for (const slice_state& slice : state.slices)
    for (const layer_state& layer : slice.layers) {
      const auto keys = static_cast<double>(layer.keys);
      expected += complete * keys + sizing::expected_false_positives(layer.shape, {0, keys});
      complete += sizing::error_rate(layer.shape, keys);
    }
  return expected;
}

}  // namespace everseen
