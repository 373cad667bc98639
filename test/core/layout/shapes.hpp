#pragma once

#include <cstdint>

#include "everseen/core/layout/layout.hpp"

namespace everseen::test {

inline geometry shape_of(layout_kind layout, std::uint64_t bytes, unsigned classic_probes = 7) {
  return {layout, static_cast<std::uint8_t>(probes_of(layout, classic_probes)), bytes};
}

}  // namespace everseen::test
