#pragma once

#include <functional>
#include <span>

#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

/// The whole program: finds the verb, reads its options, runs it. Returns the exit code.
[[nodiscard]] int run_program(std::span<const char* const> arguments);

/// The one place that turns an error into one line on standard error and an exit code.
///
///     everseen: what was wrong; what to do
///
/// If a signal stopped the work, the process ends here by that signal, after everything has been closed.
[[nodiscard]] int exit_code_of(const std::function<exit_code()>& work);

}  // namespace everseen::cli
