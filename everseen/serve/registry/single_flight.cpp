#include "everseen/serve/registry/single_flight.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace everseen::serve {

namespace {

/// A caller fails immediately if an attempt failed this recently and another one is in progress.
constexpr std::chrono::seconds remembered{60};
constexpr std::chrono::milliseconds retry_poll_interval{2};

}  // namespace

single_flight::slot& single_flight::slot_of(std::string_view name) noexcept {
  return slots_[std::hash<std::string_view>()(name) % slots_.size()];
}

single_flight::hold single_flight::take(std::string_view name) {
  return hold(slot_of(name).busy);
}

single_flight::hold single_flight::take_or_fail(std::string_view name, failures shared) {
  slot& s = slot_of(name);
  const auto came = clock::now();
  hold mine(s.busy, std::try_to_lock);
  if (mine) return mine;
  rethrow_since(s, name, shared, came - remembered);
  // Not lock(): a later caller may get it first, and wait through the next outage before this one.
  while (!mine.try_lock()) {
    rethrow_since(s, name, shared, came);
    std::this_thread::sleep_for(retry_poll_interval);
  }
  rethrow_since(s, name, shared, came);
  return mine;
}

void single_flight::rethrow_since(slot& s, std::string_view name, failures shared, clock::time_point since) {
  const std::scoped_lock alone(s.lock);
  if (!s.fault || s.name != name || s.ended < since) return;
  if (s.is_outage || shared == failures::all) std::rethrow_exception(s.fault);
}

void single_flight::note(const outcome& ended) {
  slot& s = slot_of(ended.name);
  const std::scoped_lock alone(s.lock);
  s.name = ended.name;
  s.fault = ended.fault;
  s.is_outage = ended.is_outage;
  s.ended = clock::now();
}

std::vector<std::string> key_listing::keys() {
  return flights_.join("", [this] {
    std::uint64_t changes = 0;
    {
      const std::scoped_lock alone(lock_);
      if (std::chrono::steady_clock::now() < good_until_) return keys_;
      changes = changes_;
    }
    std::vector<std::string> keys = place_.list();
    std::sort(keys.begin(), keys.end());
    const std::scoped_lock alone(lock_);
    keys_ = keys;
    if (place_.traits().is_remote && changes == changes_)
      good_until_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    return keys;
  });
}

void key_listing::forget() {
  const std::scoped_lock alone(lock_);
  good_until_ = {};
  ++changes_;
}

}  // namespace everseen::serve
