#pragma once

#include <cstdint>

#include "everseen/core/growth.hpp"
#include "everseen/core/spec.hpp"

namespace everseen::server {

/// Bytes that a filter takes when its first keys have come: the first layer of every partition, in a window
/// those of one slice.
[[nodiscard]] inline std::uint64_t planned_bytes(const spec& s) {
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

}  // namespace everseen::server
