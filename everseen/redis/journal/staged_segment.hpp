#pragma once

#include <string>
#include <string_view>

#include "everseen/redis/keyspace/staged_key.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// A segment on its way to its server, where clients judge: its bits go to a staged key, which a script then
/// renames to the segment, if the writer's lease is still valid.
struct staged_segment {
  staged_key staged;    ///< for this segment of this checkpoint alone, as copies of pieces may be late; the
                        ///< lease is extended by its lifetime when it is placed
  std::string state;    ///< key of the partition's state
  std::string segment;  ///< its key
  std::string lease;    ///< token of the lease until it is placed
  std::string next_lease;  ///< token from then on: it is placed once, however often the command arrives
};

/// Writes the bits and places the segment.
/// @return false  another client has taken over
/// @throws backend_error, format_error
[[nodiscard]] bool write_segment(server_connections& connections, const staged_segment& s,
                                 std::string_view bits);

}  // namespace everseen::redis
