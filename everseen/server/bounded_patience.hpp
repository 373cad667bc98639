#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "everseen/store/patience.hpp"

namespace everseen::server {

/// Rides out outages as long as the store would, but on some threads alone, and not at all once the server
/// ends. Who comes beyond is told of the outage at once, so that other threads are left for what is well.
/// Threads: any number.
class bounded_patience final : public patience {
 public:
  /// @param most  threads that may wait for a store that is away
  /// @param ends  whether nobody is to wait any more
  bounded_patience(unsigned most, std::function<bool()> ends) : most_(most), ends_(std::move(ends)) {}

  bool tries_again(const outage& now) override;
  void is_over() override { leave(); }

  /// To be called by a thread when its work is done, whatever became of it.
  void leave() noexcept;
  [[nodiscard]] unsigned waiting() const noexcept { return waiting_; }

 private:
  bool enter() noexcept;

  const unsigned most_;
  const std::function<bool()> ends_;
  std::atomic<unsigned> waiting_ = 0;
};

}  // namespace everseen::server
