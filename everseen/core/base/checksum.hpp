#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace everseen {

/// XXH3-64 without a seed. It protects every header, manifest and stream against damage, not against
/// attackers.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// The same checksum over bytes that arrive in pieces.
class running_checksum {
 public:
  running_checksum();
  ~running_checksum();
  running_checksum(running_checksum&&) noexcept;
  running_checksum& operator=(running_checksum&&) noexcept;

  void update(std::span<const std::byte> bytes) noexcept;
  /// The checksum of all bytes so far; more may follow.
  [[nodiscard]] std::uint64_t value() const noexcept;
  void reset() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace everseen
