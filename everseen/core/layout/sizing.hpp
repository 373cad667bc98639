#pragma once

#include <cstdint>
#include <span>

#include "everseen/core/layout/layout.hpp"

/// The arithmetic of Bloom filters: exact formulas for every layout, and their inverses.
///
/// Notation: c = bits per key, k = probes, n = keys, m = bits. All functions are pure; rates are
/// probabilities in (0, 1). Sources: doc/hashing.md, "Error rates"; the tests reproduce the published tables.
/// Threads: any. Cost: microseconds, so not for the hot path.
namespace everseen::sizing {

/// The required capacity and error rate of a segment.
struct target {
  std::uint64_t capacity = 0;  ///< keys
  double error_rate = 0;
};

/// Error rates that a filter can be created with. Below the minimum, the digest's 128 bits would limit the
/// rate.
inline constexpr double min_error_rate = 1e-15;
inline constexpr double max_error_rate = 0.5;

/// Probability that a key never added finds all its bits set, in a segment that holds `keys` keys.
///
/// classic: (1 - e^(-kn/m))^k. One line of s words of w bits: the keys per line are binomially distributed,
/// so the rate is the sum over i of Binomial(i; n, 1/lines) (1 - (1 - 1/w)^i)^s. Two lines: the square of one
/// line's rate, each line holding the keys of both draws. Effects of small segments are included: the
/// variance of set bits (classic), and keys whose two lines are the same one.
[[nodiscard]] double error_rate(const geometry& shape, double keys);

/// The same by bits per key, for a segment so large that only the ratio matters. Binomial becomes
/// Poisson(sw/c).
[[nodiscard]] double error_rate(layout_kind layout, unsigned probes, double bits_per_key);

/// Bits per key at which a layout reaches a rate: the inverse of the function above, to 1e-9 relative.
/// @param probes  for classic; 0 selects the best number, see best_probes
[[nodiscard]] double bits_per_key(layout_kind layout, unsigned probes, double error_rate);

/// The number of classic probes that needs the fewest bits for a rate: -log2(rate) rounded down or up,
/// whichever is better; 1 to max_probes.
[[nodiscard]] unsigned best_probes(double error_rate);

/// The smallest segment (a multiple of 64 bytes) that holds `goal.capacity` keys within the rate.
/// @throws parameter_error  it would exceed 2^62 bits
[[nodiscard]] geometry smallest(layout_kind layout, unsigned probes, const target& goal);

/// The number of keys that a segment can hold at a rate: the inverse of smallest.
[[nodiscard]] std::uint64_t capacity(const geometry& shape, double error_rate);

/// Keys in a segment, estimated from its set bits. Infinite if all are set.
[[nodiscard]] double keys_from_set_bits(const geometry& shape, std::uint64_t set_bits);

/// The standard deviation of that estimate, for a segment with this many keys. The formula is that of
/// scattered bits (Swamidass and Baldi, 2007); measured in lines, the deviation is up to 1.3 times that.
[[nodiscard]] double deviation_of_keys(const geometry& shape, double keys);

/// Whether such an estimate is above a count by more than chance explains: three times the square root.
[[nodiscard]] bool is_more_than_chance(double estimate, std::uint64_t count) noexcept;

/// The key counts between which a segment fills.
struct key_range {
  double from = 0;
  double until = 0;
};
/// Expected number of false positives while a segment fills: the integral of error_rate over the keys.
[[nodiscard]] double expected_false_positives(const geometry& shape, key_range keys);

/// How many distinct keys a segment was given when `counted` of them were fresh: a key that is called seen by
/// mistake is not counted, and leaves the bits as if it had been added. The difference matters in overfilled
/// segments. Ends where one key in a thousand is still fresh, since beyond that the count says too little.
[[nodiscard]] double keys_from_counted(const geometry& shape, double counted);

/// The layout with the fewest cache misses that does not waste memory: rate >= 1e-3 one line 8x64, to 1e-5
/// one line 16x32, to 1e-8 two lines 8x64, below two lines 16x32. The lower the rate, the more bits per key a
/// line needs.
[[nodiscard]] layout_kind choose_layout(double error_rate) noexcept;

}  // namespace everseen::sizing
