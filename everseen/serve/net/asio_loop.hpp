#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace everseen::serve {

/// A connection as its loop sees it. All calls are on the loop's thread.
class connection {
 public:
  using clock = std::chrono::steady_clock;

  virtual ~connection() = default;
  /// Checks its timeouts.
  virtual void look_at_clock(clock::time_point current_time) = 0;
  /// Answers what has arrived, then ends.
  virtual void drain() = 0;
  virtual void close() = 0;
};

/// One thread and the connections that it serves. A connection never changes its thread, so none needs a
/// lock.
class loop {
 public:
  loop();
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }

  // From any thread:

  /// Ends every connection as soon as its requests are answered.
  void drain();
  /// Ends every connection.
  void close_all();
  /// Returns when the last handler has run.    @pre no connection is left that will wait again
  void finish();

  // On its own thread:

  void add(const std::shared_ptr<connection>& c);
  void remove(const connection* c) { connections_.erase(c); }
  [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }

 private:
  void run();
  void tick();
  void for_each(void (connection::*what)());

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  std::unordered_map<const connection*, std::weak_ptr<connection>> connections_{};
  bool is_draining_ = false;
  bool has_finished_ = false;
  std::thread thread_;
};

}  // namespace everseen::serve
