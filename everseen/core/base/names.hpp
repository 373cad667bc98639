/// Names of filters and jobs, and their form in text: doc/format.md, "Names of filters and jobs".
///
/// A name is any sequence of bytes. In text it stays unchanged if a terminal can display all of it; otherwise
/// it is enclosed in double quotes, with escapes. Text that begins with a double quote always has the second
/// form.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace everseen {

inline constexpr std::size_t max_name_bytes = 1024;

[[nodiscard]] inline bool is_name(std::string_view bytes) noexcept {
  return !bytes.empty() && bytes.size() <= max_name_bytes;
}

/// The name as text.
[[nodiscard]] std::string shown_name(std::string_view name);

/// The inverse, for text that people or programs write; it also reads quotes and escapes that are not needed.
/// @throws parameter_error  it begins with a double quote and is not in that form
[[nodiscard]] std::string typed_name(std::string_view text);

/// The name for a message, always in quotes. Text that is too long for a name is truncated.
[[nodiscard]] std::string quoted_name(std::string_view name);

/// The name as an argument of a command, for a message: the text, quoted for the shell where needed.
[[nodiscard]] std::string name_argument(std::string_view name);

/// Text for a terminal: control characters, and bytes that are not UTF-8, become \xHH. For messages that may
/// quote input.
[[nodiscard]] std::string without_controls(std::string_view text);

/// The candidate that a mistyped word most probably meant; empty if none is close.
///
/// Close means one edit (a wrong, missing, extra or swapped letter), or two in a candidate of at least eight
/// letters, and fewer than half of the letters. Two edits make another word of a short one. Dashes before a
/// word do not count.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace everseen
