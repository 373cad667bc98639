#include "everseen/core/growth.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "everseen/core/error.hpp"
#include "everseen/core/sizing.hpp"
#include "everseen/core/window.hpp"

namespace everseen::growth {

double slice_budget(const spec& s) noexcept {
  return s.window ? s.error_rate / window::live_slices(*s.window) : s.error_rate;
}

std::uint64_t first_capacity(const spec& s) noexcept {
  const double slices = s.window ? s.window->slices : 1;
  const double slice_keys = static_cast<double>(s.capacity) / slices;
  const double share = slice_keys / s.partitions;
  const double margin = s.partitions > 1 ? 5 * std::sqrt(share) : 0;
  return static_cast<std::uint64_t>(std::ceil(share + margin));
}

layer_plan plan_layer(const spec& s, unsigned index) {
  if (index >= max_layers)
    throw full_error("the filter has grown " + std::to_string(max_layers - 1) +
                     " times; create one with a larger capacity and move over");
  layer_plan plan;
  const std::uint64_t first = first_capacity(s);
  if (static_cast<int>(index) >= std::countl_zero(first))
    throw parameter_error("layer " + std::to_string(index) +
                          " would hold more than 2^64 keys; create a filter with a "
                          "larger capacity and fewer layers, and move over");
  plan.capacity = first << index;
  plan.error_rate = s.growth == growth_kind::grow ? std::ldexp(slice_budget(s), -static_cast<int>(index) - 1)
                                                  : slice_budget(s);
  plan.shape = sizing::smallest(s.layout, s.probes, {plan.capacity, plan.error_rate});
  return plan;
}

}  // namespace everseen::growth
