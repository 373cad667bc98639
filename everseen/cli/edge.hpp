#pragma once

#include <functional>

#include "everseen/cli/verb.hpp"

namespace everseen::cli {

/// The one place where what went wrong becomes one line on standard error and an exit code.
///
///     everseen: what was wrong; what to do
///
/// A signal that stopped the work ends the process here, after everything has been closed.
[[nodiscard]] int at_the_edge(const std::function<exit_code()>& work);

}  // namespace everseen::cli
