#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace everseen {

/// A queue between threads with a limited length: push() blocks while it is full.
/// Threads: any number on both sides.
template <typename T>
class bounded_queue {
 public:
  explicit bounded_queue(std::size_t most) : most_(most) {}

  /// Waits for room.
  /// @return false  it was still full after `wait`, or it is closed; `thing` is unchanged
  bool push(T& thing, std::chrono::milliseconds wait) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, wait, [&] { return closed_ || things_.size() < most_; });
    if (closed_ || things_.size() >= most_) return false;
    things_.push_back(std::move(thing));
    changed_.notify_all();
    return true;
  }

  /// The next thing; nothing if none arrived within `wait`, or the queue is closed and empty (has_ended()).
  std::optional<T> pop(std::chrono::milliseconds wait) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, wait, [&] { return closed_ || !things_.empty(); });
    if (things_.empty()) return {};
    T thing = std::move(things_.front());
    things_.pop_front();
    changed_.notify_all();
    return thing;
  }

  /// Accepts nothing more. What it holds can still be popped.
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
  mutable std::mutex lock_;  // guards the members below
  std::condition_variable changed_;
  std::deque<T> things_;
  bool closed_ = false;
};

}  // namespace everseen
