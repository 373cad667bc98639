#pragma once

#include <cstdint>

#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::server {

/// Bytes of a filter after its first keys: the first layer of every partition; with a window, those of one
/// slice.
[[nodiscard]] inline std::uint64_t planned_bytes(const spec& s) {
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

/// Memory of an open filter beside its bits: its counters, names and locks. Measured: doc/measurements.md,
/// "What a small filter takes".
[[nodiscard]] constexpr std::uint64_t bytes_beside_bits(std::uint32_t partitions) noexcept {
  constexpr std::uint64_t of_any = 4'608, of_a_partition = 288;
  return of_any + of_a_partition * partitions;
}

}  // namespace everseen::server
