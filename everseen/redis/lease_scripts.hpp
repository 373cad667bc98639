#pragma once

#include "everseen/redis/scripts.hpp"

/// What bulk loading runs inside Redis; lease.hpp says what for. As in scripts.hpp, each is atomic and checks
/// the epoch first.
namespace everseen::redis::scripts {

/// Takes or renews the right to be the only one who adds to a partition, in a new epoch.
///
/// KEYS  state, fence
/// ARGV  epoch, next epoch, next manifest, what the fence holds then, owner (32 characters), life in ms
/// Returns `K` done, `S` stale, `M` no state, `L<ms>` somebody else has it for so long.
[[nodiscard]] const script& take_lease();

/// Writes bytes of a segment, and renews the lease.
///
/// KEYS  state, segment
/// ARGV  epoch, owner, life of the lease in ms, length of the segment (empty if it is not published yet),
/// offset, bytes, life of a segment that is not published in ms
/// Returns `K` done, `S` stale, `M` no state, `X` the lease is lost, `D1` the segment has another length.
[[nodiscard]] const script& write_page();

/// Puts counts, and a new list of segments if there is one, and renews the lease. Done twice it is done once.
///
/// KEYS  state, fence, the new segments, the segments to forget
/// ARGV  epoch, owner, life of the lease in ms, next epoch (or the same), next manifest, what the fence holds
/// then, how many new segments, how many counts, the lengths of the new segments, field and value of each
/// count, the count fields to forget
/// Returns as write_page, `D<n>` about the new segments.
[[nodiscard]] const script& write_counts();

/// Ends a lease that one has.
/// KEYS  state    ARGV  owner    Returns `K`.
[[nodiscard]] const script& release();

}  // namespace everseen::redis::scripts
