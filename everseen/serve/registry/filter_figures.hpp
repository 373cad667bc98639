#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "everseen/filter/filter.hpp"

namespace everseen::serve {

/// A summary of how full a filter is.
struct filter_figures {
  /// The part on one server.
  struct instance {
    std::string place{};  ///< empty: this process
    std::uint32_t partitions = 0;
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
  };
  std::uint64_t keys = 0;
  double error_rate_now = 0;
  double fill = 0;  ///< keys divided by the capacity of all layers
  std::uint32_t layers = 0;
  std::uint32_t slices = 0;
  std::uint64_t bytes = 0;
  std::vector<instance> instances{};
};

[[nodiscard]] filter_figures figures_of(const filter_info& info);

/// The keys and capacity of layers.
struct layer_sum {
  std::uint64_t keys = 0;
  std::uint64_t room = 0;
  std::uint64_t bytes = 0;
  void add(const partition_state& state) noexcept;
  [[nodiscard]] double fill() const noexcept {
    return room == 0 ? 0 : static_cast<double>(keys) / static_cast<double>(room);
  }
};

/// A filter's figures, at most a second old: for a filter on servers they cost round trips.
/// Threads: any number; one refreshes.
class recent_figures {
 public:
  using clock = std::chrono::steady_clock;
  /// Refreshes the figures unless they are still valid. Never fails: during an outage the old ones stay.
  void look_at(const filter& source, clock::time_point current_time);
  /// The last known figures; nothing: none yet.
  [[nodiscard]] std::optional<filter_figures> last() const;

 private:
  mutable std::mutex lock_{};
  std::optional<filter_figures> last_{};
  clock::time_point good_until_{};
};

}  // namespace everseen::serve
