#pragma once

#include <cstdint>

#include "everseen/core/format/redis_keys.hpp"

/// How long the leases in the state of a partition last. If one has more time left, the server's clock was
/// set back after it was taken, or a server whose clock is behind has been promoted. Such a lease is not
/// held: nobody has to wait until the clock is where it was.
namespace everseen::redis {

/// Of the append lease: long enough for a round trip to another continent.
inline constexpr std::uint64_t append_lease_ms = 1'000;

/// Of the lease for a checkpoint: the time for one segment, so that a client that hangs is soon replaced; and
/// more for each MiB.
[[nodiscard]] constexpr std::uint64_t checkpoint_lease_ms(std::uint64_t segment_bytes) noexcept {
  return 30'000 + 1'000 * (segment_bytes >> 20);
}
/// The segments of another client's checkpoint may be longer than one's own.
inline constexpr std::uint64_t longest_checkpoint_lease_ms =
    checkpoint_lease_ms(partition_keys::max_segment_bytes);

}  // namespace everseen::redis
