#include "everseen/core/redisbloom/redisbloom.hpp"

#include "everseen/core/layout/foreign_positions.hpp"

namespace everseen::redisbloom {

void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  draw::redisbloom_positions drawn(hash, bits);
  for (std::uint64_t& each : out) each = drawn.next();
}

}  // namespace everseen::redisbloom
