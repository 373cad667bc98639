#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "everseen/core/spec.hpp"
#include "everseen/core/window.hpp"
#include "everseen/redis/served/remote_partition.hpp"

namespace everseen::redis {

/// Which keys of different slices may share a call.
enum class mixing : std::uint8_t {
  none,    ///< only those of one slice
  made,    ///< added to segments that are there: up to the first key whose slice has none yet
  any,     ///< added by a server that makes segments: all whose slices lie within 255
  lookup,  ///< only looked up: all that are not newer than the newest slice, as they meet the same segments
};

/// Keys of a batch that one call is about.
///
/// They keep their order, and a call judges them in it, so how a batch is cut into calls changes no verdict.
/// Whether a key is late is what the client's picture says: a call names the epoch of that picture, and in
/// another one it judges nothing.
struct stretch {
  std::size_t keys = 0;
  window::slice_index slice = window::timeless;  ///< of all; of several that are added the oldest, of several
                                                 ///< that are looked up the newest that is there
  std::vector<window::slice_index> slices{};     ///< of each, where they differ; late ones count as one slice
  bool is_late = false;                          ///< all of them
};

/// The stretch that keys from `from` on begin with.
/// @param times  as partition_batch    @param to  the end of those that may be taken
/// @pre from < to; a window has as many times as keys, or one
[[nodiscard]] stretch next_stretch(const spec& s, const remote_partition& known,
                                   std::span<const event_time> times, std::size_t from, std::size_t to,
                                   mixing allowed);

}  // namespace everseen::redis
