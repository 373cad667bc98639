#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace everseen::wire {

/// Splits a line as a person types it into words.
///
/// Blanks separate. Double quotes hold a word together and know \n \r \t \b \a, \xHH and a backslash before
/// any other byte; single quotes know \' alone. A closing quote must end the word.
/// @param text   receives the words' bytes    @param words  receives views of `text`
/// @return false  a quote is not closed, or something follows it
[[nodiscard]] bool split_typed_line(std::string_view line, std::string& text,
                                    std::vector<std::string_view>& words);

}  // namespace everseen::wire
