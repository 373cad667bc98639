#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "everseen/store/port/retry_policy.hpp"

namespace everseen::server {

/// Waits through outages for as long as the store would, but on a limited number of threads, and not at all
/// once the server ends. Further callers fail immediately, so that other threads stay free for filters that
/// respond. Threads: any number.
class bounded_retry_policy final : public retry_policy {
 public:
  /// @param most  threads that may wait for an unavailable store
  /// @param ends  whether no thread may wait any longer
  bounded_retry_policy(unsigned most, std::function<bool()> ends) : most_(most), ends_(std::move(ends)) {}

  bool tries_again(const outage& now) override;
  void on_recovered() override { leave(); }
  [[nodiscard]] bool may_take_hours() const noexcept override { return false; }

  /// Called by a thread when its work is done, successful or not.
  void leave() noexcept;
  [[nodiscard]] unsigned waiting() const noexcept { return waiting_; }

 private:
  bool enter() noexcept;

  const unsigned most_;
  const std::function<bool()> ends_;
  std::atomic<unsigned> waiting_ = 0;
};

}  // namespace everseen::server
