#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>

#include "test/support/loopback.hpp"

namespace everseen::test {

/// A thread that waits for sockets, and what other threads change for it.
class poll_loop {
 public:
  mutable std::mutex mutex{};  ///< guards what is changed

  /// Changes something, and wakes the thread.
  template <typename Change>
  void tell(Change change) {
    {
      const std::lock_guard lock(mutex);
      change();
    }
    ::eventfd_write(news_.get(), 1);
  }

 protected:
  poll_loop() = default;
  ~poll_loop() = default;

  void start(std::function<void()> work) { thread_ = std::thread(std::move(work)); }
  /// Waits for the end of the thread. Before the destructor of what the thread uses.
  void stop() {
    tell([this] { has_ended_ = true; });
    thread_.join();
  }

  /// The event of tell(), to be waited for.
  [[nodiscard]] pollfd news() const noexcept { return {news_.get(), POLLIN, 0}; }
  /// @param time_limit_ms  negative: none    @return false  the thread must end
  [[nodiscard]] bool wait_for(std::vector<pollfd>& events, int time_limit_ms) {
    ::poll(events.data(), events.size(), time_limit_ms);
    eventfd_t ignored;
    ::eventfd_read(news_.get(), &ignored);
    const std::lock_guard lock(mutex);
    return !has_ended_;
  }

 private:
  descriptor news_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  bool has_ended_ = false;
  std::thread thread_{};
};

}  // namespace everseen::test
