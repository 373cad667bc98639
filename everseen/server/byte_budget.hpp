#pragma once

#include <atomic>
#include <cstddef>

namespace everseen::server {

/// Bytes that many may hold together. Threads: any number.
class byte_budget {
 public:
  explicit byte_budget(std::size_t most) noexcept : most_(most) {}

  /// What one of them holds; given back in the end. Threads: one at a time.
  class share {
   public:
    explicit share(byte_budget& of) noexcept : of_(of) {}
    ~share() { give_back(); }
    share(const share&) = delete;
    share& operator=(const share&) = delete;

    /// @return false  all of them would hold too much; nothing has changed
    [[nodiscard]] bool grow_to(std::size_t bytes) noexcept {
      if (bytes <= held_) return true;
      const std::size_t more = bytes - held_;
      if (of_.taken_.fetch_add(more, std::memory_order_relaxed) + more > of_.most_) {
        of_.taken_.fetch_sub(more, std::memory_order_relaxed);
        return false;
      }
      held_ = bytes;
      return true;
    }
    void give_back() noexcept {
      if (held_ > 0) of_.taken_.fetch_sub(held_, std::memory_order_relaxed);
      held_ = 0;
    }

   private:
    byte_budget& of_;
    std::size_t held_ = 0;
  };

  [[nodiscard]] std::size_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace everseen::server
