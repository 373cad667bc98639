#include "everseen/core/growth.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "everseen/core/error.hpp"
#include "everseen/core/sizing.hpp"
#include "everseen/core/window.hpp"

namespace everseen::growth {

namespace {

[[noreturn]] void cannot_grow(unsigned index) {
  throw full_error("the filter has grown " + std::to_string(index - 1) +
                   " times and cannot grow further; create one with a larger capacity and move over");
}

}  // namespace

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
  const std::uint64_t first = first_capacity(s);
  if (index >= max_layers || static_cast<int>(index) >= std::countl_zero(first)) cannot_grow(index);
  layer_plan plan;
  plan.capacity = first << index;
  plan.error_rate = s.growth == growth_kind::grow ? std::ldexp(slice_budget(s), -static_cast<int>(index) - 1)
                                                  : slice_budget(s);
  try {
    plan.shape = sizing::smallest(s.layout, s.probes, {plan.capacity, plan.error_rate});
  } catch (const parameter_error&) {
    if (index == 0) throw;
    cannot_grow(index);
  }
  return plan;
}

}  // namespace everseen::growth
