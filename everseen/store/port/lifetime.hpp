#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// The expiry time of a filter of this machine, which may change while the filter is in use.
///
/// A filter without one reads no clock.    Threads: any number may call any function.
class lifetime {
 public:
  /// @param now  null: expiry is enforced elsewhere
  explicit lifetime(time_source now, std::optional<event_time> end = {}) : now_(std::move(now)) { set(end); }

  [[nodiscard]] bool has_expired() const {
    const std::int64_t end = expires_at_ms_.load(std::memory_order_relaxed);
    return end != never && now_ && now_().time_since_epoch().count() >= end;
  }
  [[nodiscard]] std::optional<event_time> expires_at() const noexcept {
    const std::int64_t end = expires_at_ms_.load(std::memory_order_relaxed);
    if (end == never) return std::nullopt;
    return event_time(std::chrono::milliseconds(end));
  }
  void set(std::optional<event_time> end) noexcept {
    expires_at_ms_.store(end ? end->time_since_epoch().count() : never, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  const time_source now_;
  std::atomic<std::int64_t> expires_at_ms_{never};
};

}  // namespace everseen
