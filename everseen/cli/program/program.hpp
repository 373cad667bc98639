#pragma once

#include <span>

namespace everseen::cli {

/// The whole program: finds the verb, reads its options, runs it. Returns the exit code.
[[nodiscard]] int run_program(std::span<const char* const> arguments);

}  // namespace everseen::cli
