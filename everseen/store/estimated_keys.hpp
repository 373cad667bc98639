#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/layout.hpp"

namespace everseen {

/// The keys of a segment by its set bits, for when the stored count may lag behind them: after an unclean
/// end, and in a copy taken beside a writer. Errs by about a percent in small segments. Reads all bits.
[[nodiscard]] std::uint64_t estimated_keys(const geometry& shape, std::span<const std::byte> bits);

}  // namespace everseen
