#pragma once

#include <cstdint>
#include <string>

namespace everseen::redis {

/// A key beside a partition's state by which a transaction finds out, in the pipeline that carries it,
/// whether the partition's epoch is still the one it was planned for.
///
/// A transaction cannot ask and then decide. But it does nothing if a key that was watched is written to, and
/// there is a write that happens only in the wrong epoch: the fence holds 2^62 - 1 - epoch in 63 bits, and
/// with step = 2^62 + 1 + planned
///
///     BITFIELD fence OVERFLOW FAIL INCRBY u63 0 step INCRBY u63 0 -step
///
/// would first overflow and then underflow while the epoch is `planned`, so nothing is written. In a later
/// epoch both steps are taken: the value is what it was, but the watched key was written to. In an earlier
/// one, where a failover lost the last change, neither is; so the same is done to a second field, 2^61 +
/// epoch, which lets only the steps of a later plan through.
///
/// The guard lies outside of MULTI, so it may be refused alone: while keys move, or by a server that is just
/// becoming one that works. Therefore the transaction reads the fence, too, before anything else: a server
/// without it refuses the transaction, and its value tells in which epoch the rest ran.
namespace fence {

/// What the key holds in an epoch: 16 bytes.
/// @pre epoch < 2^60
[[nodiscard]] std::string bytes_of(std::uint64_t epoch);

/// The commands that guard a transaction, to be sent right before its MULTI; and how many they are.
///
/// A fence is made with its partition, so where it is missing the filter was dropped. Then one that belongs
/// to no epoch is made for a moment: that is a write, too.
[[nodiscard]] std::string guard(const std::string& key, std::uint64_t planned_epoch);
inline constexpr std::size_t guard_commands = 3;

}  // namespace fence

}  // namespace everseen::redis
