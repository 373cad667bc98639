#pragma once

#include <atomic>
#include <cstdint>

namespace everseen {

/// Lets the blocks of a stream pass one at a time and in order, whichever threads hold them.
///
/// Block n passes after block n - 1 has left. A row of turnstiles makes a wavefront: while one thread takes
/// block 8 through the last partitions, another already takes block 9 through the first.
class turnstile {
 public:
  void wait(std::uint64_t number) const noexcept {
    for (std::uint64_t now; (now = next_.load(std::memory_order_acquire)) != number;) next_.wait(now);
  }
  /// Until all blocks before this one have left.
  void wait_for_those_before(std::uint64_t number) const noexcept {
    for (std::uint64_t now; (now = next_.load(std::memory_order_acquire)) < number;) next_.wait(now);
  }
  void leave(std::uint64_t number) noexcept {
    next_.store(number + 1, std::memory_order_release);
    next_.notify_all();
  }

 private:
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

}  // namespace everseen
