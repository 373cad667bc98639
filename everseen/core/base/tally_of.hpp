#pragma once

#include <span>

#include "everseen/core/base/verdict.hpp"

namespace everseen {

/// Counts the keys per verdict.
/// Cost: about 0.1 ns a key, so code that judges need not count. Threads: any.
[[nodiscard]] tally tally_of(std::span<const verdict> verdicts) noexcept;

}  // namespace everseen
