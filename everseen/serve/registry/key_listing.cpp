#include "everseen/serve/registry/key_listing.hpp"

#include <algorithm>
#include <utility>

namespace everseen::serve {

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
