#include "everseen/serve/service/guess_limit.hpp"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace everseen::serve {

namespace {

/// The prefix that one site is given, which contains 2^16 networks /64.
constexpr std::ptrdiff_t site_bytes = 48 / 8;

/// @return empty  the source is not IPv6
std::string site_of(std::string_view source) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET6, std::string(source).c_str(), bytes.data()) != 1) return {};
  return "site " + std::string(bytes.begin(), bytes.begin() + site_bytes);
}

}  // namespace

void guess_limit::bucket::refill(clock::time_point current_time) noexcept {
  if (current_time <= refilled_) return;
  left_ = std::min(most_->at_once,
                   left_ + std::chrono::duration<double>(current_time - refilled_).count() * most_->a_second);
  refilled_ = current_time;
}

bool guess_limit::bucket::has_one(clock::time_point current_time) noexcept {
  refill(current_time);
  return left_ >= 1;
}

void guess_limit::bucket::take(clock::time_point current_time) noexcept {
  refill(current_time);
  left_ = std::max(0.0, left_ - 1);
}

guess_limit::bucket* guess_limit::recent_sources::find(std::string_view source) {
  const auto found = known_.find(source);
  return found == known_.end() ? nullptr : &found->second->left;
}

guess_limit::bucket& guess_limit::recent_sources::note(std::string_view source, const allowance& most,
                                                       clock::time_point current_time) {
  if (const auto found = known_.find(source); found != known_.end()) {
    newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
  } else {
    if (known_.size() == most_sources) forget_oldest();
    newest_first_.push_front({std::string(source), bucket(most, current_time), current_time});
    known_.emplace(newest_first_.front().source, newest_first_.begin());
  }
  newest_first_.front().noted = current_time;
  return newest_first_.front().left;
}

void guess_limit::recent_sources::forget_oldest() {
  known_.erase(newest_first_.back().source);
  newest_first_.pop_back();
}

void guess_limit::recent_sources::forget_before(clock::time_point when) {
  while (!newest_first_.empty() && newest_first_.back().noted < when) forget_oldest();
}

bool guess_limit::may_try(std::string_view source, clock::time_point current_time) {
  if (nobody_was_wrong_.load(std::memory_order_relaxed)) return true;
  const std::string site = site_of(source);
  const std::scoped_lock alone(lock_);
  if (bucket* const own = right_.find(source)) return own->has_one(current_time);
  wrong_.forget_before(current_time - memory);
  bucket* const own = wrong_.find(source);
  bucket* const of_its_site = site.empty() ? nullptr : wrong_.find(site);
  if (own == nullptr && of_its_site == nullptr) return true;
  if (own != nullptr && !own->has_one(current_time)) return false;
  if (of_its_site != nullptr && !of_its_site->has_one(current_time)) return false;
  return all_.has_one(current_time);
}

void guess_limit::was_wrong(std::string_view source, clock::time_point current_time) {
  const std::string site = site_of(source);
  const std::scoped_lock alone(lock_);
  nobody_was_wrong_.store(false, std::memory_order_relaxed);
  if (bucket* const own = right_.find(source)) return own->take(current_time);
  wrong_.note(source, of_source, current_time).take(current_time);
  if (!site.empty()) wrong_.note(site, of_site, current_time).take(current_time);
  all_.take(current_time);
}

void guess_limit::was_right(std::string_view source, clock::time_point current_time) {
  const std::scoped_lock alone(lock_);
  (void)right_.note(source, of_source, current_time);
}

}  // namespace everseen::serve
