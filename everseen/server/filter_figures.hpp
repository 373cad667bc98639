#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "everseen/filter/filter.hpp"

namespace everseen::server {

/// How full a filter is, in few numbers.
struct filter_figures {
  /// What one server has of it.
  struct instance {
    std::string place{};  ///< empty: this process
    std::uint32_t partitions = 0;
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
  };
  std::uint64_t keys = 0;
  double error_rate_now = 0;
  double fill = 0;  ///< keys in proportion to what all layers are made for
  std::uint32_t layers = 0;
  std::uint32_t slices = 0;
  std::uint64_t bytes = 0;
  std::vector<instance> instances{};
};

[[nodiscard]] filter_figures figures_of(const filter_info& info);

/// What layers hold, and what they are made for.
struct layer_sum {
  std::uint64_t keys = 0;
  std::uint64_t room = 0;
  std::uint64_t bytes = 0;
  void add(const partition_state& state) noexcept;
  [[nodiscard]] double fill() const noexcept {
    return room == 0 ? 0 : static_cast<double>(keys) / static_cast<double>(room);
  }
};

/// The figures of a filter, looked at once a second at most: of a filter on servers they cost round trips.
/// Threads: any number; one looks.
class recent_figures {
 public:
  using clock = std::chrono::steady_clock;
  /// Looks, unless the last figures are good still. Never fails: while the store is away, they stay.
  void look_at(const filter& of, clock::time_point now);
  /// Those that were had last; nothing: none yet.
  [[nodiscard]] std::optional<filter_figures> last() const;

 private:
  mutable std::mutex lock_{};
  std::optional<filter_figures> last_{};
  clock::time_point good_until_{};
};

}  // namespace everseen::server
