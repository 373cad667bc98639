#pragma once

#include <string>

#include "test/support/history/checker.hpp"

namespace everseen::test::history {

/// The operations of a contradiction, as few as possible, as text.
///
/// An operation is not simply removed, as the answers that it explains would then contradict. Its outcome is
/// made unknown, so it may have happened in its time or not. What remains contradicts whatever the others
/// did.
/// @pre the history contradicts for this key
[[nodiscard]] std::string smallest_contradiction(const record& all, int key, const exceptions& allowed);

}  // namespace everseen::test::history
