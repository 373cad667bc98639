#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

namespace everseen::server {

/// Answered requests over HTTP, by what was asked and how it ended. Threads: any number.
///
/// Bounded by the number of routes: what fits none of them counts as one.
class request_counts {
 public:
  struct kind {
    std::string_view route;   ///< its pattern, with {name} for any name; empty: there is no such route
    std::string_view method;  ///< both must outlive the counts
    unsigned status = 0;
    friend auto operator<=>(const kind&, const kind&) = default;
  };

  void note(const kind& of) {
    const std::scoped_lock alone(lock_);
    ++counts_[of];
  }

  [[nodiscard]] std::map<kind, std::uint64_t> all() const {
    const std::scoped_lock alone(lock_);
    return counts_;
  }

  [[nodiscard]] std::uint64_t sum() const {
    const std::scoped_lock alone(lock_);
    std::uint64_t requests = 0;
    for (const auto& [of, count] : counts_) requests += count;
    return requests;
  }

 private:
  mutable std::mutex lock_{};
  std::map<kind, std::uint64_t> counts_{};
};

}  // namespace everseen::server
