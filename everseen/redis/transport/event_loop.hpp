#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>

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
