#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace everseen::redis {

/// Names a batch under which a server remembers its answer: different for every batch that this process
/// sends, ascending, and of fixed length, so that none is another's beginning.
[[nodiscard]] inline std::string next_sequence() {
  static std::atomic<std::uint64_t> count{0};
  std::string text = std::to_string(count.fetch_add(1, std::memory_order_relaxed));
  return std::string(20 - text.size(), '0') + text;
}

}  // namespace everseen::redis
