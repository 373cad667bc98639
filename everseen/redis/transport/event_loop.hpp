#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace everseen::redis {

/// Waits for all sockets and timers of one thread's connections. Threads: one at a time.
class event_loop {
 public:
  event_loop();
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// Waits for one event and handles it.
  /// @pre an operation or a timer is pending
  void run_one();
  /// Handles events that have occurred, without waiting.
  void poll();

  [[nodiscard]] boost::asio::io_context& context() noexcept { return *context_; }

 private:
  std::unique_ptr<boost::asio::io_context> context_;
};

/// Calls back once, after a time, unless it is stopped or destroyed before.
class timer {
 public:
  explicit timer(event_loop& loop);
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Cancels the previous start.
  void start(std::chrono::nanoseconds after, std::function<void()> then);
  void stop() noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace everseen::redis
