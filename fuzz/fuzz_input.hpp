#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace everseen {

/// Numbers and texts made of the bytes of a fuzzer: 0 and empty at their end.
class fuzz_input {
 public:
  explicit fuzz_input(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto next = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return next;
  }
  std::string text(std::size_t most) {
    const std::string_view some = rest_.substr(0, byte() % (most + 1));
    rest_.remove_prefix(std::min(rest_.size(), some.size()));
    return std::string(some);
  }
  /// Small numbers, numbers near the ends of 64 bits, and any other.
  std::uint64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 160) return kind;
    if (kind < 200) return std::uint64_t{1} << (kind % 64);
    if (kind < 220) return std::numeric_limits<std::uint64_t>::max() - kind % 4;
    std::uint64_t any = 0;
    for (int i = 0; i < 8; ++i) any = any << 8 | byte();
    return any;
  }

 private:
  std::string_view rest_;
};

}  // namespace everseen
