#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace everseen::serve {

/// A limit on the bytes that several holders have together. Threads: any number.
class byte_budget {
 public:
  explicit byte_budget(std::size_t most) noexcept : most_(most) {}

  /// The bytes of one holder; its destructor returns them. Threads: one at a time.
  class share {
   public:
    explicit share(byte_budget& budget) noexcept : budget_(&budget) {}
    ~share() { give_back(); }
    share(share&& other) noexcept : budget_(other.budget_), held_(std::exchange(other.held_, 0)) {}
    share& operator=(share&&) = delete;

    /// Takes more, or returns some.
    /// @return false  the total would exceed the limit; nothing has changed
    [[nodiscard]] bool hold(std::size_t bytes) noexcept {
      if (bytes > held_ && !budget_->take(bytes - held_)) return false;
      if (bytes < held_) budget_->taken_.fetch_sub(held_ - bytes, std::memory_order_relaxed);
      held_ = bytes;
      return true;
    }
    void give_back() noexcept { (void)hold(0); }
    [[nodiscard]] std::size_t held() const noexcept { return held_; }

   private:
    byte_budget* budget_;
    std::size_t held_ = 0;
  };

  [[nodiscard]] std::size_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool take(std::size_t more) noexcept {
    if (taken_.fetch_add(more, std::memory_order_relaxed) + more <= most_) return true;
    taken_.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }

  const std::size_t most_;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace everseen::serve
