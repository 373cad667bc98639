#include "everseen/server/registry/filter_budget.hpp"

#include <string>

namespace everseen::server {

filter_budget::share filter_budget::reserve(std::uint64_t bytes) {
  std::uint64_t taken = taken_;
  do {
    const std::uint64_t most = most_;
    if (bytes > most || taken > most - bytes)
      throw no_room("a filter of this size would take " + std::to_string(bytes) + " bytes, and " +
                    std::to_string(taken) + " of " + std::to_string(most) + " are taken");
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return share(*this, bytes);
}

}  // namespace everseen::server
