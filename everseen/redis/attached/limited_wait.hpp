#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include "everseen/redis/transport/backoff.hpp"

namespace everseen::redis {

/// Pauses of somebody who tries again because another client was faster, or is not done yet.
class limited_wait {
 public:
  explicit limited_wait(std::chrono::milliseconds patience) noexcept : patience_(patience) {}

  /// Pauses before another attempt.    @return false  it has taken too long since the first pause
  [[nodiscard]] bool again() {
    const auto now = std::chrono::steady_clock::now();
    if (!begin_) begin_ = now;
    if (now - *begin_ >= patience_) return false;
    std::this_thread::sleep_for(pauses_.next());
    return true;
  }

 private:
  std::chrono::milliseconds patience_;
  std::optional<std::chrono::steady_clock::time_point> begin_{};
  backoff pauses_{};
};

}  // namespace everseen::redis
