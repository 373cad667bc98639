#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/dedup/record/record_format.hpp"

/// What an input seems to be, by its beginning.
namespace everseen {

/// Why lines of this input are hardly what its reader means, as the predicate of a message with a remedy:
/// text of 16 or 32 bits a character, a byte order mark before the first line, a file of another kind of
/// program.
/// @param text  the beginning of the input    @return nothing  it looks like text, or records end with NUL
[[nodiscard]] std::optional<std::string> unusual_kind(std::string_view text, record_format format);

/// The error for a line that names the fields, if it is text of 16 or 32 bits a character.
[[nodiscard]] std::optional<std::string> unusual_header(std::string_view line);

/// How many lines end with a carriage return and a newline, and with a newline alone.
struct line_ends {
  std::size_t with_return = 0;
  std::size_t without = 0;
};
[[nodiscard]] line_ends line_ends_of(std::string_view text) noexcept;

}  // namespace everseen
