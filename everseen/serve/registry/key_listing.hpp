#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "everseen/serve/registry/single_flight.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::serve {

/// The names of all filters of a store.
///
/// Clients may ask often, and a listing asks every server. So for a store on servers the listing may be a
/// second old, except for what this process created, renamed or dropped. Threads: any number.
class key_listing {
 public:
  /// @param place  outlives it
  explicit key_listing(const everseen::store& place) : place_(place) {}

  /// In ascending order.    @throws error  as store::list
  [[nodiscard]] std::vector<std::string> keys();
  /// Discards the cached listing: a filter was created, renamed or dropped.
  void forget();

 private:
  const everseen::store& place_;
  single_flight flights_{};
  std::mutex lock_{};  // guards the members below
  std::vector<std::string> keys_{};
  std::chrono::steady_clock::time_point good_until_{};
  std::uint64_t changes_ = 0;
};

}  // namespace everseen::serve
