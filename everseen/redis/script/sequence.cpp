#include "everseen/redis/script/sequence.hpp"

#include <atomic>
#include <cstdint>

#include "everseen/core/partition_keys.hpp"

namespace everseen::redis {

std::string next_sequence() {
  static std::atomic<std::uint64_t> count{0};
  const std::string digits = std::to_string(count.fetch_add(1, std::memory_order_relaxed));
  return std::string(partition_keys::sequence_bytes - digits.size(), '0') + digits;
}

}  // namespace everseen::redis
