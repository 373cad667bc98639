#include "everseen/serve/registry/filter_budget.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace everseen::serve {

filter_budget::share::share(share&& other) noexcept : budget_(other.budget_) {
  const std::scoped_lock alone(other.lock_);
  used_ = std::exchange(other.used_, 0);
  held_ = other.held_.exchange(0);
}

void filter_budget::share::hold(std::uint64_t bytes) noexcept {
  budget_->taken_ += bytes - held_.exchange(bytes);  // modulo 2^64, so that the difference may be negative
}

void filter_budget::share::take(std::uint64_t bytes) {
  const std::scoped_lock alone(lock_);
  const std::uint64_t used = used_ + bytes;
  if (used > held_) {
    const std::uint64_t more = used - held_;
    if (!budget_->take(more))
      throw full_error("the filter cannot grow: its next segment " + budget_->lack(more), ENOMEM);
    held_ = used;
  }
  used_ = used;
  ++takes_;
}

void filter_budget::share::give_back(std::uint64_t bytes) noexcept {
  const std::scoped_lock alone(lock_);
  used_ -= std::min(used_, bytes);  // what it holds is measured again
}

bool filter_budget::share::set(const size& measured, std::uint64_t taken) noexcept {
  const std::scoped_lock alone(lock_);
  if (takes_ != taken) return false;
  used_ = measured.used;
  hold(std::max(measured.used, measured.reserved));
  return true;
}

void filter_budget::share::set(std::uint64_t bytes) noexcept {
  const std::scoped_lock alone(lock_);
  used_ = bytes;
  hold(bytes);
}

filter_budget::share filter_budget::reserve(const share::size& wanted) {
  if (!take(wanted.reserved)) throw no_room("a filter of this size " + lack(wanted.reserved));
  return {*this, wanted};
}

bool filter_budget::take(std::uint64_t bytes) noexcept {
  std::uint64_t taken = taken_;
  do {
    const std::uint64_t most = most_;
    if (bytes > most || taken > most - bytes) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return true;
}

std::string filter_budget::lack(std::uint64_t bytes) const {
  return "would take " + std::to_string(bytes) + " bytes, and filters take " + std::to_string(taken()) +
         " of " + std::to_string(most()) + "; to make room, drop a filter, or raise maxmemory";
}

}  // namespace everseen::serve
