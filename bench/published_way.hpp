#pragma once

#include "bench/redis_server.hpp"

namespace everseen::bench {

/// The usual way: a SETBIT for each bit, one pipeline a key.
struct published_way {
  double keys = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;  ///< of client and server together

  /// Times adding ten thousand keys with this many bits each to a string of 4 MiB.
  void measure(redis_server& server, unsigned probes);
  [[nodiscard]] double keys_a_second() const { return keys / wall_seconds; }
  [[nodiscard]] double cpu_seconds_a_key() const { return cpu_seconds / keys; }
};

}  // namespace everseen::bench
