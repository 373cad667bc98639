#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace everseen {

/// Copies of a block's keys: one that an event_rule returns is valid only until the next record.
class kept_keys {
 public:
  void clear() noexcept {
    bytes_.clear();
    ends_.clear();
  }
  void keep(std::string_view key) {
    bytes_ += key;
    ends_.push_back(bytes_.size());
  }
  /// Valid until the next call of any function.
  [[nodiscard]] std::span<const std::string_view> views() {
    views_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      views_.emplace_back(bytes_.data() + begin, end - begin);
      begin = end;
    }
    return views_;
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> views_;
};

}  // namespace everseen
