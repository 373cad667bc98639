#pragma once

#include <cmath>
#include <cstdint>

namespace everseen::test {

namespace detail {

/// The exponent of Chernoff's bound: exp(-this) bounds the chance that n trials of probability p give k
/// events, or a number further from the mean on the same side.
inline double rarity(std::uint64_t n, double p, std::uint64_t k) {
  const auto trials = static_cast<double>(n);
  const double share = static_cast<double>(k) / trials;
  const double found = share > 0 ? share * std::log(share / p) : 0;
  const double missed = share < 1 ? (1 - share) * std::log((1 - share) / (1 - p)) : 0;
  return trials * (found + missed);
}

inline const double one_in_a_billion = std::log(1e9);

}  // namespace detail

/// n trials of probability p give more events than this with a chance of at most one in a billion.
inline std::uint64_t binomial_bound(std::uint64_t n, double p) {
  if (n == 0) return 0;
  auto k = static_cast<std::uint64_t>(static_cast<double>(n) * p) + 1;
  while (k < n && detail::rarity(n, p, k) < detail::one_in_a_billion) ++k;
  return k;
}

/// n trials of probability p give fewer events than this with a chance of at most one in a billion.
inline std::uint64_t binomial_floor(std::uint64_t n, double p) {
  auto k = static_cast<std::uint64_t>(static_cast<double>(n) * p);
  while (k > 0 && detail::rarity(n, p, k) < detail::one_in_a_billion) --k;
  return k;
}

}  // namespace everseen::test
