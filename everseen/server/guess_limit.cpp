#include "everseen/server/guess_limit.hpp"

#include <algorithm>

namespace everseen::server {

void guess_limit::bucket::refill(clock::time_point now, double rate, double most) noexcept {
  if (now <= looked_at) return;
  left = std::min(most, left + std::chrono::duration<double>(now - looked_at).count() * rate);
  looked_at = now;
}

void guess_limit::bucket::take() noexcept {
  left = std::max(0.0, left - 1);
}

bool guess_limit::may_try(std::string_view source, clock::time_point now) {
  if (nobody_was_wrong_.load(std::memory_order_relaxed)) return true;
  const std::scoped_lock alone(lock_);
  const auto known = wrong_.find(source);
  // While no further source can be remembered, a new one may have been wrong, too.
  if (known == wrong_.end() && wrong_.size() < most_sources) return true;
  all_.refill(now, a_second_of_all, burst_of_all);
  if (all_.left < 1) return false;
  if (known == wrong_.end()) return true;
  known->second.refill(now, a_second, burst);
  return known->second.left >= 1;
}

void guess_limit::was_wrong(std::string_view source, clock::time_point now) {
  const std::scoped_lock alone(lock_);
  nobody_was_wrong_.store(false, std::memory_order_relaxed);
  all_.refill(now, a_second_of_all, burst_of_all);
  all_.take();
  auto known = wrong_.find(source);
  if (known == wrong_.end() && wrong_.size() >= most_sources) make_room(now);
  if (known == wrong_.end() && wrong_.size() < most_sources)
    known = wrong_.emplace(source, bucket{burst, now}).first;
  if (known == wrong_.end()) return;
  known->second.refill(now, a_second, burst);
  known->second.take();
}

void guess_limit::make_room(clock::time_point now) {
  std::erase_if(wrong_, [now](const auto& each) { return now - each.second.looked_at > memory; });
}

}  // namespace everseen::server
