#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace everseen {

/// The different names of counters that a batch raises, and the place of each among them.
/// Threads: one at a time. Cost: a look-up in a hash table; a copy of the name where it is new.
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

  /// By place. Valid until place_of() is given a new one.
  [[nodiscard]] std::span<const std::string_view> all() const noexcept { return names_; }

 private:
  std::deque<std::string> texts_;  // which never move
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
};

}  // namespace everseen
