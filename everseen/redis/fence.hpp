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
/// epoch both steps are taken: the value is what it was, but the watched key was written to.
namespace fence {

/// What the key holds in an epoch: 8 bytes.
[[nodiscard]] std::string bytes_of(std::uint64_t epoch);

/// The commands that guard a transaction, to be sent right before its MULTI; and how many they are.
/// A missing fence is made, in the planned epoch: a partition that nothing has been published in has none.
[[nodiscard]] std::string guard(const std::string& key, std::uint64_t planned_epoch);
inline constexpr std::size_t guard_commands = 3;
inline constexpr std::size_t verdict_of_guard = 2;  ///< whose reply says it: nil and nil, if in the epoch

}  // namespace fence

}  // namespace everseen::redis
