#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace everseen::wire {

/// Splits a line typed by a person into words.
///
/// Blanks separate words. Double quotes group a word and support \n \r \t \b \a, \xHH and a backslash before
/// any other byte; single quotes support only \'. A closing quote must end the word.
/// @param text   receives the words' bytes    @param words  receives views of `text`
/// @return false  a quote is not closed, or is followed by other text
[[nodiscard]] bool split_typed_line(std::string_view line, std::string& text,
                                    std::vector<std::string_view>& words);

}  // namespace everseen::wire
