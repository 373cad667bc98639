#pragma once

#include <span>
#include <string_view>

namespace everseen {

/// The candidate that a mistyped word most probably meant, or an empty view when none is near.
///
/// Near is at most two slips (a wrong, missing, extra or swapped letter), and fewer than half of the word.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace everseen
