#include "everseen/serve/net/receive_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace everseen::serve {

std::size_t receive_buffer::best_capacity(std::size_t needed) const noexcept {
  const std::size_t held = end_ - begin_;
  std::size_t wanted = std::max(capacity_, least_bytes);
  if (was_filled_) wanted = std::min(wanted * 4, std::max(most_bytes, capacity_));
  if (held == 0 && capacity_ > most_bytes) wanted = most_bytes;  // the long request has ended
  // A request announces its length before it sends it, so the length is trusted only up to twice the
  // received bytes.
  wanted = std::max(wanted, std::min(needed, 2 * held + least_bytes));
  if (needed > held && needed <= wanted) return wanted;
  return std::max(wanted, held + held / 2);
}

bool receive_buffer::may_have(std::size_t capacity) noexcept {
  return held_.hold(begin_ == end_ || capacity <= least_bytes ? 0 : capacity);
}

std::span<char> receive_buffer::room(std::size_t needed) {
  std::size_t wanted = best_capacity(needed);
  if (!may_have(wanted)) {  // the least that lets the request progress; none unless it is the shortest
    const std::size_t held = end_ - begin_;
    const std::size_t little = held + held / 8;
    wanted = held < capacity_ ? capacity_ : needed > held ? std::min(needed, little) : little;
    if (!may_have(wanted)) wanted = std::max(least_bytes, little);
    if (!may_have(wanted)) return {};
  }
  if (wanted != capacity_ || begin_ > capacity_ / 2 || end_ == capacity_) move_to(wanted);
  was_filled_ = false;
  return {bytes_.get() + end_, capacity_ - end_};
}

void receive_buffer::move_to(std::size_t capacity) {
  const std::size_t held = end_ - begin_;
  if (capacity == capacity_) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, held);
  } else {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (held > 0) std::memcpy(larger.get(), bytes_.get() + begin_, held);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  begin_ = 0;
  end_ = held;
}

void receive_buffer::received(std::size_t count) noexcept {
  was_filled_ = count == capacity_ - end_;
  end_ += count;
}

void receive_buffer::use(std::size_t count) noexcept {
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

}  // namespace everseen::serve
