#pragma once

#include <algorithm>
#include <cmath>

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

}  // namespace everseen::sizing
