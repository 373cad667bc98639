#include "everseen/core/redisbloom/chain_spec.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen::redisbloom {

namespace {

[[noreturn]] void refuse_redisbloom(const std::string& why) {
  throw format_error("not a RedisBloom filter that everseen can continue: " + why);
}

spec spec_of(const chain& from) {
  const layer& first = from.layers.front();
  foreign_sizes::must_be_settable(first.probes);
  spec s;
  s.layout = layout_kind::redisbloom;
  s.hash = foreign_sizes::hash_of(s.layout);
  s.growth = from.grows() ? growth_kind::grow : growth_kind::refuse;
  s.capacity = first.capacity;
  s.error_rate = from.grows() ? 2 * first.error_rate : first.error_rate;
  s.probes = static_cast<std::uint8_t>(first.probes);
  s.foreign.powers_of_two = (from.flags & flags::exact_size) == 0;
  s.foreign.expansion = from.expansion;
  return s;
}

/// Each layer must be the one that RedisBloom would have created there, since the chain continues to grow
/// from it.
void must_be_planned(const spec& s, unsigned index, const layer& l, std::uint64_t bytes) {
  const std::string name = "layer " + std::to_string(index);
  const std::uint64_t used = l.log2_bits > 0 ? std::uint64_t{1} << l.log2_bits : 8 * bytes;
  if (bytes % 8 != 0 || used != 8 * bytes || (l.log2_bits > 0) != s.foreign.powers_of_two)
    refuse_redisbloom(name + " uses " + std::to_string(used) + " bits of " + std::to_string(bytes) +
                      " bytes");
  growth::layer_plan plan;
  try {
    plan = growth::plan_layer(s, index);
  } catch (const full_error&) {
    refuse_redisbloom(name + " is more than it could have grown to");
  }
  if (l.capacity != plan.capacity)
    refuse_redisbloom(name + " is for " + std::to_string(l.capacity) + " keys, where its expansion of " +
                      std::to_string(s.foreign.expansion) + " gives " + std::to_string(plan.capacity));
  if (!(std::abs(l.error_rate - plan.error_rate) <= 1e-9 * plan.error_rate) || l.probes != plan.shape.probes)
    refuse_redisbloom(name + " does not have half of the previous layer's error rate");
  if (s.foreign.powers_of_two) return;  // the rounded size says nothing about the requested one
  // Another library's logarithm may differ in the last digit, which can change the size by one word.
  const double words = foreign_sizes::redisbloom_size({l.capacity, l.error_rate}, false).size.words;
  if (std::abs(static_cast<double>(bytes / 8) - words) > 1)
    refuse_redisbloom(name + " has " + std::to_string(bytes / 8) +
                      " words, where its capacity and rate need " +
                      std::to_string(static_cast<std::uint64_t>(words)));
}

spec checked_spec(const announced_chain& from) {
  spec s = spec_of(from.shape);
  s.foreign.first_bytes = from.lengths.front();
  foreign_sizes::must_be_possible(s.error_rate);
  validate(s);
  if (from.lengths.size() > 1 && s.growth != growth_kind::grow)
    refuse_redisbloom("it has several layers and must not grow");
  for (unsigned i = 0; i < from.lengths.size(); ++i)
    must_be_planned(s, i, from.shape.layers[i], from.lengths[i]);
  return s;
}

}  // namespace

announced_filter filter_of(const announced_chain& from) {
  announced_filter f{checked_spec(from)};
  f.is_redisbloom = true;
  for (std::uint32_t i = 0; i < from.lengths.size(); ++i) {
    const layer& l = from.shape.layers[i];
    const geometry shape = {layout_kind::redisbloom, static_cast<std::uint16_t>(l.probes), from.lengths[i]};
    f.segments.push_back({{0, window::timeless, i}, {shape, l.capacity, l.keys}});
  }
  return f;
}

announced_chain chain_of(const spec& s, const partition_state& state) {
  announced_chain all;
  all.shape.flags = flags::wide_hash;
  if (!s.foreign.powers_of_two) all.shape.flags |= flags::exact_size;
  if (s.growth == growth_kind::refuse) all.shape.flags |= flags::fixed_size;
  all.shape.expansion = s.foreign.expansion;
  std::vector<layer_state> layers;
  if (!state.slices.empty()) layers = state.slices.front().layers;
  if (layers.empty()) {
    const growth::layer_plan plan = growth::plan_layer(s, 0);
    layers.push_back({plan.shape, plan.capacity, 0});
  }
  for (unsigned i = 0; i < layers.size(); ++i) {
    layer l;
    l.capacity = layers[i].capacity;
    l.error_rate = i == 0 ? growth::plan_layer(s, 0).error_rate : all.shape.layers.back().error_rate / 2;
    l.bits_per_key = foreign_sizes::redisbloom_bits_per_key(l.error_rate);
    l.probes = layers[i].shape.probes;
    l.keys = layers[i].keys;
    if (s.foreign.powers_of_two)
      l.log2_bits = static_cast<std::uint8_t>(std::bit_width(layers[i].shape.bits()) - 1);
    all.shape.keys += l.keys;
    all.shape.layers.push_back(l);
    all.lengths.push_back(layers[i].shape.bytes);
  }
  return all;
}

}  // namespace everseen::redisbloom
