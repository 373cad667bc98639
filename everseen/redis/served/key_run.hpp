#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "everseen/core/spec/spec.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/redis/served/remote_partition.hpp"

namespace everseen::redis {

/// Which keys of different slices may share a call.
enum class mixing : std::uint8_t {
  lookup,  ///< only looked up: all up to the newest slice, since they are compared with the same segments
  listed,  ///< added to segments that exist: up to the first key whose slice has none yet
  any,     ///< added by a server that makes segments
};

/// Keys of a batch that one call judges. They keep their order, so how a batch is cut into calls changes no
/// verdict.
///
/// Which keys are late follows from the state that the client has read. A call names the epoch of that state,
/// and is refused in any other.
struct key_run {
  std::size_t keys = 0;
  /// Of all keys. Of several slices that are added the oldest; of several that are looked up the newest
  /// listed one.
  window::slice_index slice = window::timeless;
  /// Of each key that is added, where they differ or are late; else empty. Late keys count as one slice.
  std::vector<window::slice_index> slices{};
};

/// The run that begins with the key `from`.
/// @param times  as partition_batch    @param to  the end of the keys that may be taken
/// @pre from < to; a window has as many times as keys, or one
[[nodiscard]] key_run next_key_run(const spec& s, const remote_partition& known,
                                   std::span<const event_time> times, std::size_t from, std::size_t to,
                                   mixing allowed);

}  // namespace everseen::redis
