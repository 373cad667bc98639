#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace everseen {

/// The distinct names of counters that a batch raises, each with an index.
/// Threads: one at a time. Cost: a look-up in a hash table; a copy of each new name.
class counter_names {
 public:
  [[nodiscard]] std::uint32_t place_of(std::string_view name) {
    if (const auto found = places_.find(name); found != places_.end()) return found->second;
    const std::string_view kept = texts_.emplace_back(name);
    const auto place = static_cast<std::uint32_t>(names_.size());
    names_.push_back(kept);
    places_.emplace(kept, place);
    return place;
  }

  /// By index. Valid until place_of() adds a new name.
  [[nodiscard]] std::span<const std::string_view> all() const noexcept { return names_; }

 private:
  std::deque<std::string> texts_;  // a deque never moves its elements
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
};

}  // namespace everseen
