#include "everseen/compat/bitmap/redisson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "everseen/compat/bitmap/highway_hash.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::compat::redisson {

std::string config_key(std::string_view name) {
  const std::string own(name);
  return (name.find('{') == std::string_view::npos ? "{" + own + "}" : own) + ":config";
}

digest hash(std::string_view key) noexcept {
  constexpr std::array<std::uint64_t, 4> fixed_key = {0x9e3779b97f4a7c15, 0xf39cc0605cedc834,
                                                      0x1082276bf3a27251, 0xf86c6a11d0c18e95};
  return highway_hash_128(fixed_key, key);
}

void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  constexpr std::uint64_t never_negative = ~std::uint64_t{0} >> 1;
  std::uint64_t at = hash.low;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = (at & never_negative) % bits;
    at += i % 2 == 0 ? hash.high : hash.low;
  }
}

shape smallest(std::uint64_t expected, double rate) {
  if (!(rate > 0 && rate < 1)) throw parameter_error("an error rate lies between 0 and 1");
  if (expected == 0) throw parameter_error("Redisson makes no filter for no keys; expect at least one");
  const auto n = static_cast<double>(expected);
  const double bits = std::floor(-n * std::log(rate) / (std::numbers::ln2 * std::numbers::ln2));
  if (bits < 1) throw parameter_error("that error rate needs no bits; ask for a lower one");
  if (bits > static_cast<double>(max_bits))
    throw parameter_error("a filter of Redisson ends at 4294967294 bits; expect fewer keys");
  const double probes = std::max(1.0, std::floor(bits / n * std::numbers::ln2 + 0.5));
  return {static_cast<std::uint64_t>(bits), static_cast<unsigned>(probes)};
}

}  // namespace everseen::compat::redisson
