#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace everseen {

/// Hands things from one thread to another and holds the first back while the second is behind.
/// Threads: any number on both sides.
template <typename T>
class bounded_queue {
 public:
  explicit bounded_queue(std::size_t most) : most_(most) {}

  /// Waits for room.
  /// @return false  there was none in time, or the queue is closed; `thing` is as it was
  bool push(T& thing, std::chrono::milliseconds wait) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, wait, [&] { return closed_ || things_.size() < most_; });
    if (closed_ || things_.size() >= most_) return false;
    things_.push_back(std::move(thing));
    changed_.notify_all();
    return true;
  }

  /// The next thing; nothing when none came for `wait`, or none will come any more: has_ended() tells.
  std::optional<T> pop(std::chrono::milliseconds wait) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, wait, [&] { return closed_ || !things_.empty(); });
    if (things_.empty()) return {};
    T thing = std::move(things_.front());
    things_.pop_front();
    changed_.notify_all();
    return thing;
  }

  /// What is in it can still be taken; nothing more is.
  void close() {
    const std::scoped_lock alone(lock_);
    closed_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] bool has_ended() const {
    const std::scoped_lock alone(lock_);
    return closed_ && things_.empty();
  }

 private:
  const std::size_t most_;
  mutable std::mutex lock_;  // guards what follows
  std::condition_variable changed_;
  std::deque<T> things_;
  bool closed_ = false;
};

}  // namespace everseen
