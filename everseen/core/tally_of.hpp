#pragma once

#include <span>

#include "everseen/core/verdict.hpp"

namespace everseen {

/// How many keys got which verdict.
/// Cost: some 0.1 ns a key, so that whoever judges need not count. Threads: any.
[[nodiscard]] tally tally_of(std::span<const verdict> verdicts) noexcept;

}  // namespace everseen
