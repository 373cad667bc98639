#pragma once

#include <span>
#include <string_view>

namespace everseen {

/// The candidate that a mistyped word most probably meant; empty if none is close.
///
/// Close means at most two edits (a wrong, missing, extra or swapped letter), and fewer than half of the
/// letters.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace everseen
