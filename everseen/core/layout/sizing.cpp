#include "everseen/core/layout/sizing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::sizing {

/// The number of patterns in one line of a segment: Binomial(patterns, 1 / lines), or its limit for an
/// infinite segment, Poisson(mean). sizing.cpp sums over it.
///
/// Both distributions satisfy P(i + 1) / P(i) = (a - b i) / (i + 1), so one recurrence covers both.
class line_load {
 public:
  struct fall {
    double patterns;  ///< a whole number
    double lines;
  };

  static line_load binomial(fall f) {
    if (f.lines == 1) return {f.patterns, 1, 0, 0};
    const double odds = 1 / (f.lines - 1);
    return from_first(f.patterns / f.lines, f.patterns * std::log1p(-1 / f.lines), f.patterns * odds, odds);
  }
  static line_load poisson(double mean) { return from_first(mean, -mean, mean, 0); }

  /// The lowest relevant load. At most e^-50 of all lines have less.
  [[nodiscard]] double first() const noexcept { return first_; }

  /// The mean of an increasing function with values in [0, 1] and a concave logarithm.
  /// @param f  next() returns its value at first(), first() + 1, …
  ///
  /// Probabilities and f have concave logarithms, and so do their products. Once a term is less than half of
  /// the previous one, all later terms together are less than it. (Early terms may underflow to 0.)
  template <typename Function>
  [[nodiscard]] double expectation(Function f) const {
    double sum = 0, before = 0, probability = first_probability_;
    for (double i = first_;; ++i) {
      const double term = probability * f.next();
      sum += term;
      const bool falls_fast = sum > 0 && 2 * term <= before;
      if ((falls_fast && term <= negligible * sum) || probability == 0) return sum;
      before = term;
      probability *= std::max(0.0, a_ - b_ * i) / (i + 1);
    }
  }

 private:
  static constexpr double negligible = 1e-17;
  static constexpr double small = 500;  // up to this mean P(0) does not underflow

  line_load(double first, double first_probability, double a, double b)
      : first_(first), first_probability_(first_probability), a_(a), b_(b) {}

  static line_load from_first(double mean, double log_of_none, double a, double b) {
    const double first = mean > small ? std::floor(mean - 10 * std::sqrt(mean)) : 0;
    double log_probability = log_of_none;
    for (double i = 0; i < first; ++i) log_probability += std::log((a - b * i) / (i + 1));
    return {first, std::exp(log_probability), a, b};
  }

  double first_;
  double first_probability_;
  double a_, b_;
};

namespace {

constexpr double max_bits = 0x1p62;

// ---- classic ----

/// (1 - e^-a)^k for the expected share of set bits, corrected for the variance of that share: the mean of a
/// k-th power exceeds the k-th power of the mean. The factor is 1 + O(k^2 / m), noticeable below some
/// thousand bits.
double classic_rate(double probes, double keys, double bits) {
  if (keys <= 0) return 0;
  const double a = -probes * keys * std::log1p(-1 / bits);
  const double unset = std::exp(-a);
  const double set = -std::expm1(-a);
  const double relative_variance = a < 1e-4 ? 0.5 - a / 3 : (unset - (1 + a) * unset * unset) / (set * set);
  const double log_rate = probes * std::log(set) + probes * (probes - 1) / 2 * relative_variance / bits;
  return std::min(1.0, std::exp(log_rate));
}

double classic_bits_per_key(double probes, double error_rate) {
  return -probes / std::log1p(-std::exp(std::log(error_rate) / probes));
}

// ---- lines ----

/// Probability that a line with `i` patterns covers one more, for i = first, first + 1, …
class covers_one {
 public:
  covers_one(unsigned words, double first)
      : words_(words), keep_(1 - words / double{line_bits}), unset_(std::pow(keep_, first)) {}
  double next() noexcept {
    const double word = 1 - unset_;
    unset_ *= keep_;
    return words_ == 8 ? power8(word) : power8(word) * power8(word);
  }

  static double power8(double x) noexcept {
    const double x2 = x * x;
    const double x4 = x2 * x2;
    return x4 * x4;
  }

 private:
  unsigned words_;
  double keep_;   // probability that a pattern does not set a given bit
  double unset_;  // keep_^i
};

/// The same for two more patterns: a key whose two lines are the same line.
class covers_two {
 public:
  covers_two(unsigned words, double first)
      : words_(words),
        hit_(words / double{line_bits}),
        one_unset_(std::pow(1 - hit_, first)),
        two_unset_(std::pow(1 - 2 * hit_, first)) {}
  double next() noexcept {
    const double both = std::max(0.0, 1 - 2 * one_unset_ + two_unset_);
    const double word = hit_ * (1 - one_unset_) + (1 - hit_) * both;
    one_unset_ *= 1 - hit_;
    two_unset_ *= 1 - 2 * hit_;
    return words_ == 8 ? covers_one::power8(word) : covers_one::power8(word) * covers_one::power8(word);
  }

 private:
  unsigned words_;
  double hit_;
  double one_unset_;
  double two_unset_;
};

/// With this mean load of patterns per bit of a word, a line covers anything: 1 - rate <= 2 * 16 * e^-45.
constexpr double saturated = 45;

bool is_saturated(unsigned words, double mean_load) {
  return mean_load * words >= saturated * line_bits;
}

/// The rate of a segment with an exact number of keys.
double lines_rate(const geometry& shape, double keys) {
  if (keys <= 0) return 0;
  const unsigned words = words_per_line(shape.layout);
  const unsigned choices = lines_per_key(shape.layout);
  const auto lines = static_cast<double>(shape.lines());
  if (is_saturated(words, keys * choices / lines)) return 1;
  const line_load load = line_load::binomial({.patterns = keys * choices, .lines = lines});
  const double one = load.expectation(covers_one(words, load.first()));
  if (choices == 1) return std::min(1.0, one);
  // With probability 1 / lines both lines are the same one, whose load then counts twice. (Loads of different
  // lines are slightly negatively correlated, so the product of their rates is a safe upper bound.)
  const double same = load.expectation(covers_two(words, load.first()));
  return std::min(1.0, one * one + (same - one * one) / lines);
}

/// The rate of an infinite segment of lines.
double lines_rate(layout_kind layout, double bits_per_key) {
  const unsigned words = words_per_line(layout);
  const unsigned choices = lines_per_key(layout);
  const double mean = choices * double{line_bits} / bits_per_key;
  if (is_saturated(words, mean)) return 1;
  const line_load load = line_load::poisson(mean);
  const double one = load.expectation(covers_one(words, load.first()));
  return choices == 1 ? one : one * one;
}

/// Bits per key of a line layout: the root of a decreasing function, by regula falsi on log-log axes, where
/// the function is nearly straight (with the Illinois rule, so that both ends move).
double lines_bits_per_key(layout_kind layout, double error_rate) {
  const double goal = std::log(error_rate);
  const auto excess = [&](double x) { return std::log(lines_rate(layout, std::exp(x))) - goal; };
  double low = std::log(8.0), high = low;
  double above = excess(low), below = above;
  while (above <= 0) above = excess(low -= 1);
  while (below > 0) {
    low = high, above = below;
    below = excess(high += 1);
  }
  double x = high;
  for (int last_side = 0; high - low > 1e-12;) {
    x = low + (high - low) * above / (above - below);
    const double y = excess(x);
    if (std::abs(y) < 1e-13) break;
    const int side = y > 0 ? 1 : -1;
    if (side > 0)
      low = x, above = y;
    else
      high = x, below = y;
    if (side == last_side) (side > 0 ? below : above) /= 2;
    last_side = side;
  }
  return std::exp(x);
}

// ---- whole numbers ----

/// The least n >= 1 that satisfies a monotone predicate, searched from a guess.
template <typename Predicate>
std::uint64_t least(std::uint64_t guess, Predicate holds) {
  std::uint64_t low = 0, high = std::max<std::uint64_t>(guess, 1);  // false at low, true at high
  std::uint64_t step = 1;
  if (holds(high)) {
    while (high > step && holds(high - step)) high -= step, step *= 2;
    if (high > step) low = high - step;
  } else {
    do low = high, high += step, step *= 2;
    while (!holds(high));
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

unsigned probes_or_best(layout_kind layout, unsigned probes, double error_rate) {
  return is_scattered(layout) && probes == 0 ? best_probes(error_rate) : probes_of(layout, probes);
}

}  // namespace

double error_rate(const geometry& shape, double keys) {
  if (is_scattered(shape.layout)) return classic_rate(shape.probes, keys, static_cast<double>(shape.bits()));
  const double whole = std::floor(keys);
  const double rate = lines_rate(shape, whole);
  return whole == keys ? rate : rate + (keys - whole) * (lines_rate(shape, whole + 1) - rate);
}

double error_rate(layout_kind layout, unsigned probes, double bits_per_key) {
  if (!is_scattered(layout)) return lines_rate(layout, bits_per_key);
  return std::pow(-std::expm1(-double(probes) / bits_per_key), probes);
}

double bits_per_key(layout_kind layout, unsigned probes, double error_rate) {
  EVERSEEN_ASSERT(error_rate > 0 && error_rate < 1);
  if (!is_scattered(layout)) return lines_bits_per_key(layout, error_rate);
  return classic_bits_per_key(probes_or_best(layout, probes, error_rate), error_rate);
}

unsigned best_probes(double error_rate) {
  const double ideal = std::clamp(-std::log2(error_rate), 1.0, double{max_probes});
  const double fewer = std::floor(ideal), more = std::ceil(ideal);
  const bool few = classic_bits_per_key(fewer, error_rate) <= classic_bits_per_key(more, error_rate);
  return static_cast<unsigned>(few ? fewer : more);
}

geometry smallest(layout_kind layout, unsigned probes, const target& goal) {
  const unsigned bits_set = probes_or_best(layout, probes, goal.error_rate);
  const auto keys = static_cast<double>(goal.capacity);
  const auto shape_of = [&](std::uint64_t lines) {
    return geometry{layout, static_cast<std::uint8_t>(bits_set), lines * line_bytes};
  };
  const double guess = std::ceil(keys * bits_per_key(layout, bits_set, goal.error_rate));
  std::uint64_t lines = 0;
  if (guess <= max_bits)
    lines = least(static_cast<std::uint64_t>(guess) / line_bits + 1,
                  [&](std::uint64_t n) { return error_rate(shape_of(n), keys) <= goal.error_rate; });
  if (lines == 0 || static_cast<double>(lines) > max_bits / line_bits)
    throw parameter_error(
        "a segment for " + std::to_string(goal.capacity) + " keys in layout " +
        std::string(to_string(layout)) +
        " would exceed 2^62 bits; ask for fewer keys, a higher error rate or another layout");
  return shape_of(lines);
}

std::uint64_t capacity(const geometry& shape, double rate) {
  const double guess = static_cast<double>(shape.bits()) / bits_per_key(shape.layout, shape.probes, rate);
  return least(static_cast<std::uint64_t>(guess),
               [&](std::uint64_t n) { return error_rate(shape, static_cast<double>(n)) > rate; }) -
         1;
}

double keys_from_set_bits(const geometry& shape, std::uint64_t set_bits) {
  if (set_bits >= shape.bits()) return std::numeric_limits<double>::infinity();
  // A draw sets a given bit with the same probability in every layout: 1 / m if classic, else 1 / (lines *
  // word width).
  const bool scattered = is_scattered(shape.layout);
  const double bits = static_cast<double>(shape.bits());
  const double draws = scattered ? shape.probes : lines_per_key(shape.layout);
  const double hit = (scattered ? 1.0 : words_per_line(shape.layout)) / bits;
  return std::log1p(-static_cast<double>(set_bits) / bits) / (draws * std::log1p(-hit));
}

double deviation_of_keys(const geometry& shape, double keys) {
  const auto bits = static_cast<double>(shape.bits());
  const double draws = probes_of(shape.layout, shape.probes);
  const double load = draws * keys / bits;
  return std::sqrt(bits * std::max(0.0, std::expm1(load) - load)) / draws;
}

bool is_more_than_chance(double estimate, std::uint64_t count) noexcept {
  const auto expected = static_cast<double>(count);
  return estimate > expected + 3 * std::sqrt(expected);
}

double expected_false_positives(const geometry& shape, key_range keys) {
  struct node {
    double x, weight;
  };
  // Gauss-Legendre, 16 points; the other eight mirror these.
  static constexpr std::array<node, 8> nodes = {{{0.09501250983763744, 0.18945061045506850},
                                                 {0.28160355077925891, 0.18260341504492359},
                                                 {0.45801677765722739, 0.16915651939500254},
                                                 {0.61787624440264375, 0.14959598881657673},
                                                 {0.75540440835500303, 0.12462897125553387},
                                                 {0.86563120238783174, 0.09515851168249278},
                                                 {0.94457502307323258, 0.06225352393864789},
                                                 {0.98940093499164993, 0.02715245941175409}}};
  // Panels halve towards the lower end: the rate is a power of the keys until it saturates at 1.
  constexpr int panels = 6;
  double sum = 0, upper = keys.until;
  for (int panel = 1; panel <= panels; ++panel) {
    const double lower = panel == panels ? keys.from : keys.from + std::ldexp(keys.until - keys.from, -panel);
    const double middle = (upper + lower) / 2, half = (upper - lower) / 2;
    for (const auto& [position, weight] : nodes)
      sum += half * weight *
             (error_rate(shape, middle - half * position) + error_rate(shape, middle + half * position));
    upper = lower;
  }
  return sum;
}

double keys_from_counted(const geometry& shape, double counted) {
  constexpr double negligible = 1e-3;   // of such a rate the correction is a smaller share than that
  constexpr double least_fresh = 1e-3;  // share of the keys
  if (counted <= 0 || error_rate(shape, counted) < negligible) return counted;
  // Newton's method on given - false positives(given) = counted. The left side is concave, so every step ends
  // before the root.
  double given = counted;
  double missing = expected_false_positives(shape, {0, counted});
  for (double fresh = 1 - error_rate(shape, given); missing > 1e-6 * counted && fresh > least_fresh;
       fresh = 1 - error_rate(shape, given)) {
    const double step = missing / fresh;
    missing = expected_false_positives(shape, {given, given + step}) - (step - missing);
    given += step;
  }
  return given;
}

layout_kind choose_layout(double error_rate) noexcept {
  if (error_rate >= 1e-3) return layout_kind::line_8x64;
  if (error_rate >= 1e-5) return layout_kind::line_16x32;
  if (error_rate >= 1e-8) return layout_kind::two_line_8x64;
  return layout_kind::two_line_16x32;
}

}  // namespace everseen::sizing
