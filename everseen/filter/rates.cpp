#include "everseen/filter/rates.hpp"

#include <cmath>

#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

double error_rate_now(const spec& s, const partition_state& state) {
  double log_right = 0;  // log P(no false positive); 1 - rate would lose the digits of small rates
  for (const slice_state& slice : state.slices) {
    if (s.window && slice.index < window::oldest_live(*s.window, state.slices.back().index)) continue;
    for (const layer_state& layer : slice.layers) log_right += std::log1p(-error_rate_now(layer));
  }
  return 0.0 - std::expm1(log_right);  // a plain negation would give -0 for an empty filter
}

double error_rate_now(const layer_state& layer) {
  return sizing::error_rate(layer.shape,
                            sizing::keys_from_counted(layer.shape, static_cast<double>(layer.keys)));
}

double expected_false_seen(const partition_state& state) {
  double expected = 0;
  double complete = 0;  // summed rate of the earlier segments
  for (const slice_state& slice : state.slices)
    for (const layer_state& layer : slice.layers) {
      const double given = sizing::keys_from_counted(layer.shape, static_cast<double>(layer.keys));
      expected += complete * given + sizing::expected_false_positives(layer.shape, {0, given});
      complete += sizing::error_rate(layer.shape, given);
    }
  return expected;
}

}  // namespace everseen
