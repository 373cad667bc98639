#include "everseen/core/spec/growth.hpp"

#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen::growth {

namespace {

/// @param limit  what the next layer would exceed
[[noreturn]] void cannot_grow(const spec& s, unsigned index, std::string_view limit) {
  throw no_room(s, "has grown " + std::to_string(index - 1) + " times: " + std::string(limit));
}

constexpr std::string_view most_keys = "the next layer would be for more than 2^64 keys";
constexpr std::string_view most_bits = "the next layer would have more than 2^62 bits";

double layer_rate(const spec& s, unsigned index) noexcept {
  return s.growth == growth_kind::grow ? std::ldexp(slice_budget(s), -static_cast<int>(index) - 1)
                                       : slice_budget(s);
}

/// The capacity and error rate of the next layer of a RedisBloom filter.
void step_redisbloom_layer(const spec& s, layer_plan& plan, unsigned index) {
  if (__builtin_mul_overflow(plan.capacity, std::uint64_t{s.foreign.expansion}, &plan.capacity))
    cannot_grow(s, index, most_keys);
  plan.error_rate /= 2;
  if (plan.error_rate == 0)
    cannot_grow(s, index, "half of the newest layer's error rate is less than a number can express");
}

void size_redisbloom_layer(const spec& s, layer_plan& plan, unsigned index) {
  constexpr double most_words = 0x1p56;
  const auto sized =
      foreign_sizes::redisbloom_size({plan.capacity, plan.error_rate}, s.foreign.powers_of_two);
  if (sized.size.words > most_words) cannot_grow(s, index, most_bits);
  plan.capacity = sized.capacity;
  plan.shape = {s.layout, static_cast<std::uint16_t>(sized.size.probes),
                static_cast<std::uint64_t>(sized.size.words) * 8};
}

/// There may be a thousand layers, so they are sized only where the next one depends on it.
layer_plan plan_foreign_layer(const spec& s, unsigned index) {
  if (index > 0 && s.layout != layout_kind::redisbloom)
    cannot_grow(s, index, "filters of its system have one layer");
  layer_plan plan = {s.capacity, layer_rate(s, 0), {s.layout, s.probes, s.foreign.first_bytes}};
  for (unsigned i = 1; i <= index; ++i) {
    step_redisbloom_layer(s, plan, i);
    if (i == index || s.foreign.powers_of_two) size_redisbloom_layer(s, plan, i);
  }
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
  if (index >= max_own_layers) cannot_grow(s, index, "a filter has 40 layers at most");
  if (static_cast<int>(index) >= std::countl_zero(first)) cannot_grow(s, index, most_keys);
  layer_plan plan;
  plan.capacity = first << index;
  plan.error_rate = layer_rate(s, index);
  try {
    plan.shape = sizing::smallest(s.layout, s.probes, {plan.capacity, plan.error_rate});
  } catch (const parameter_error&) {
    if (index == 0) throw;
    cannot_grow(s, index, most_bits);
  }
  return plan;
}

full_error no_room(const spec& s, std::string_view limit) {
  const std::string full = "the filter is full: it was created for " + std::to_string(s.capacity) + " keys";
  return full_error(s.growth == growth_kind::refuse
                        ? full + " without growth"
                        : full + " and cannot grow further; it " + std::string(limit));
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
