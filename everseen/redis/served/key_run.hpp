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

/// Keys of a batch that one call judges. They keep their order, so the division of a batch into calls changes
/// no verdict.
///
/// Whether a key is late follows from the state that the client has read. A call names the epoch of that
/// state, and is refused in any other.
struct key_run {
  std::size_t keys = 0;
  /// The slice of all keys. If they have several: the oldest one when adding, the newest listed one when
  /// looking up.
  window::slice_index slice = window::timeless;
  /// The slice of each added key, if they differ or are late; else empty. Late keys count as one slice.
  std::vector<window::slice_index> slices{};
};

/// The run that begins with the key `from`.
/// @param times  as partition_batch    @param to  the end of the available keys
/// @pre from < to; a window has one time per key, or one for all
[[nodiscard]] key_run next_key_run(const spec& s, const remote_partition& known,
                                   std::span<const event_time> times, std::size_t from, std::size_t to,
                                   mixing allowed);

}  // namespace everseen::redis
