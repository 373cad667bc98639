#include "everseen/core/spec/growth.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen::growth {

namespace {

[[noreturn]] void cannot_grow(unsigned index) {
  throw full_error("the filter has grown " + std::to_string(index - 1) +
                   " times and cannot grow further; create one with a larger capacity and move over");
}

double layer_rate(const spec& s, unsigned index) noexcept {
  return s.growth == growth_kind::grow ? std::ldexp(slice_budget(s), -static_cast<int>(index) - 1)
                                       : slice_budget(s);
}

/// The next layer of a RedisBloom filter.
layer_plan redisbloom_layer_after(const spec& s, const layer_plan& last, unsigned index) {
  constexpr double most_words = 0x1p56;
  std::uint64_t capacity = 0;
  if (__builtin_mul_overflow(last.capacity, std::uint64_t{s.foreign.expansion}, &capacity))
    cannot_grow(index);
  layer_plan plan;
  plan.error_rate = layer_rate(s, index);
  const auto sized = foreign::redisbloom_size({capacity, plan.error_rate}, s.foreign.powers_of_two);
  if (sized.size.words > most_words || sized.size.probes > max_probes) cannot_grow(index);
  plan.capacity = sized.capacity;
  plan.shape = {s.layout, static_cast<std::uint8_t>(sized.size.probes),
                static_cast<std::uint64_t>(sized.size.words) * 8};
  return plan;
}

layer_plan plan_foreign_layer(const spec& s, unsigned index) {
  if (index >= max_layers || (index > 0 && s.layout != layout_kind::redisbloom)) cannot_grow(index);
  layer_plan plan = {s.capacity, layer_rate(s, 0), {s.layout, s.probes, s.foreign.first_bytes}};
  for (unsigned i = 1; i <= index; ++i) plan = redisbloom_layer_after(s, plan, i);
  return plan;
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
  if (is_foreign(s.layout)) return plan_foreign_layer(s, index);
  const std::uint64_t first = first_capacity(s);
  if (index >= max_own_layers || static_cast<int>(index) >= std::countl_zero(first)) cannot_grow(index);
  layer_plan plan;
  plan.capacity = first << index;
  plan.error_rate = layer_rate(s, index);
  try {
    plan.shape = sizing::smallest(s.layout, s.probes, {plan.capacity, plan.error_rate});
  } catch (const parameter_error&) {
    if (index == 0) throw;
    cannot_grow(index);
  }
  return plan;
}

bool can_have(const spec& s, unsigned index, std::uint64_t capacity) noexcept {
  if (index >= max_layers || capacity == 0) return false;
  // capacity > first << index, without overflow
  if (!is_foreign(s.layout)) return index < max_own_layers && (capacity - 1) >> index < first_capacity(s);
  try {
    return capacity <= plan_foreign_layer(s, index).capacity;
  } catch (const full_error&) {
    return false;
  }
}

}  // namespace everseen::growth
