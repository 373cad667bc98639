#include "everseen/core/layout/foreign.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "everseen/core/base/error.hpp"

namespace everseen::foreign_sizes {

namespace {

constexpr double word_bits = 64;

// RedisBloom's own truncated constants; bits and probes depend on their exact values.
constexpr double redisbloom_ln2 = 0.693147180559945;
constexpr double redisbloom_ln2_squared = 0.480453013918201;

}  // namespace

hash_kind hash_of(layout_kind layout) noexcept {
  return layout == layout_kind::redisbloom ? hash_kind::murmur64a : hash_kind::murmur3;
}

wanted_size guava_size(const sizing::target& goal) noexcept {
  const auto n = static_cast<double>(std::max<std::uint64_t>(goal.capacity, 1));
  const double bits = std::floor(-n * std::log(goal.error_rate) / (std::numbers::ln2 * std::numbers::ln2));
  return {std::ceil(bits / word_bits), std::max(1.0, std::floor(bits / n * std::numbers::ln2 + 0.5))};
}

double redisbloom_bits_per_key(double error_rate) noexcept {
  return std::abs(std::log(error_rate) / redisbloom_ln2_squared);
}

double redisbloom_probes(double bits_per_key) noexcept {
  return std::ceil(redisbloom_ln2 * bits_per_key);
}

redisbloom_layer redisbloom_size(const sizing::target& goal, bool powers_of_two) noexcept {
  redisbloom_layer made;
  made.capacity = goal.capacity;
  made.bits_per_key = redisbloom_bits_per_key(goal.error_rate);
  made.size.probes = redisbloom_probes(made.bits_per_key);
  double bits = static_cast<double>(goal.capacity) * made.bits_per_key;
  if (powers_of_two && bits < 0x1p62) {
    made.log2_bits = static_cast<unsigned>(std::clamp(std::logb(bits) + 1, 1.0, 63.0));
    const double rounded = std::ldexp(1, static_cast<int>(made.log2_bits));
    made.capacity += static_cast<std::uint64_t>(std::floor(rounded - bits) / made.bits_per_key);
    bits = rounded;
  }
  made.size.words = std::ceil(std::floor(bits) / word_bits);
  return made;
}

void must_be_possible(double error_rate) {
  if (error_rate >= sizing::min_error_rate) return;
  throw parameter_error(
      "the filter has an error rate below 1e-15, which everseen does not support; migrate the keys");
}

void must_be_settable(unsigned probes) {
  if (probes > max_probes)
    throw parameter_error("the filter sets " + std::to_string(probes) +
                          " bits a key, and everseen sets at most " + std::to_string(max_probes));
}

}  // namespace everseen::foreign_sizes
