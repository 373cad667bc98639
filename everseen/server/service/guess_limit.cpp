#include "everseen/server/service/guess_limit.hpp"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace everseen::server {

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

void guess_limit::bucket::refill(clock::time_point now) noexcept {
  if (now <= refilled_) return;
  left_ = std::min(most_->at_once,
                   left_ + std::chrono::duration<double>(now - refilled_).count() * most_->a_second);
  refilled_ = now;
}

bool guess_limit::bucket::has_one(clock::time_point now) noexcept {
  refill(now);
  return left_ >= 1;
}

void guess_limit::bucket::take(clock::time_point now) noexcept {
  refill(now);
  left_ = std::max(0.0, left_ - 1);
}

guess_limit::bucket* guess_limit::recent_sources::find(std::string_view source) {
  const auto found = known_.find(source);
  return found == known_.end() ? nullptr : &found->second->left;
}

guess_limit::bucket& guess_limit::recent_sources::note(std::string_view source, const allowance& most,
                                                       clock::time_point now) {
  if (const auto found = known_.find(source); found != known_.end()) {
    newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
  } else {
    if (known_.size() == most_sources) forget_oldest();
    newest_first_.push_front({std::string(source), bucket(most, now), now});
    known_.emplace(newest_first_.front().source, newest_first_.begin());
  }
  newest_first_.front().noted = now;
  return newest_first_.front().left;
}

void guess_limit::recent_sources::forget_oldest() {
  known_.erase(newest_first_.back().source);
  newest_first_.pop_back();
}

void guess_limit::recent_sources::forget_before(clock::time_point when) {
  while (!newest_first_.empty() && newest_first_.back().noted < when) forget_oldest();
}

bool guess_limit::may_try(std::string_view source, clock::time_point now) {
  if (nobody_was_wrong_.load(std::memory_order_relaxed)) return true;
  const std::string site = site_of(source);
  const std::scoped_lock alone(lock_);
  if (bucket* const own = right_.find(source)) return own->has_one(now);
  wrong_.forget_before(now - memory);
  bucket* const own = wrong_.find(source);
  bucket* const of_its_site = site.empty() ? nullptr : wrong_.find(site);
  if (own == nullptr && of_its_site == nullptr) return true;
  if (own != nullptr && !own->has_one(now)) return false;
  if (of_its_site != nullptr && !of_its_site->has_one(now)) return false;
  return all_.has_one(now);
}

void guess_limit::was_wrong(std::string_view source, clock::time_point now) {
  const std::string site = site_of(source);
  const std::scoped_lock alone(lock_);
  nobody_was_wrong_.store(false, std::memory_order_relaxed);
  if (bucket* const own = right_.find(source)) return own->take(now);
  wrong_.note(source, of_source, now).take(now);
  if (!site.empty()) wrong_.note(site, of_site, now).take(now);
  all_.take(now);
}

void guess_limit::was_right(std::string_view source, clock::time_point now) {
  const std::scoped_lock alone(lock_);
  (void)right_.note(source, of_source, now);
}

}  // namespace everseen::server
