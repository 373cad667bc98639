#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace everseen::redis {

/// Exponential backoff from 5 ms to 500 ms, with jitter: each pause is shortened by up to a half at random,
/// so that clients do not reconnect all at the same moment.
class backoff {
 public:
  [[nodiscard]] std::chrono::nanoseconds next() {
    const auto whole = std::min<std::chrono::nanoseconds>(first * (1 << std::min(attempts_, 20U)), longest);
    ++attempts_;
    std::uniform_real_distribution<double> share(0.5, 1.0);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(whole * share(random_));
  }
  void reset() noexcept { attempts_ = 0; }
  [[nodiscard]] bool is_fresh() const noexcept { return attempts_ == 0; }

 private:
  static constexpr std::chrono::milliseconds first{5};
  static constexpr std::chrono::milliseconds longest{500};

  unsigned attempts_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace everseen::redis
