#pragma once

#include <span>
#include <string_view>

namespace everseen {

/// The candidate that a mistyped word most probably meant; empty if none is close.
///
/// Close means one edit (a wrong, missing, extra or swapped letter), or two in a candidate of at least eight
/// letters, and fewer than half of the letters. Two edits make another word of a short one. Dashes before a
/// word do not count.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace everseen
