#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "everseen/core/format/partition_keys.hpp"

namespace everseen::redis {

/// How long a server remembers its answer to a batch, in case the answer is lost.
inline constexpr std::chrono::milliseconds answers_kept = std::chrono::minutes(10);
/// The same if outages may be waited for without a limit.
inline constexpr std::chrono::milliseconds answers_kept_in_an_outage = std::chrono::hours(24);

/// Identifies a batch of a client: a number that increases with each batch of this process, in 20 digits, so
/// that none is a prefix of another. Threads: any number.
[[nodiscard]] inline std::string next_sequence() {
  static std::atomic<std::uint64_t> count{0};
  const std::string digits = std::to_string(count.fetch_add(1, std::memory_order_relaxed));
  return std::string(partition_keys::sequence_bytes - digits.size(), '0') + digits;
}

}  // namespace everseen::redis
