#pragma once

#include <span>
#include <string>
#include <string_view>

/// Words that people know from other programs (uniq, sort, awk, redis-cli, RedisBloom), and what is here
/// instead: what does the same, or that nothing does, and why.
namespace everseen::cli {

struct foreign_verb {
  std::string_view words;  ///< in lower case, separated by blanks
  std::string_view sentence;
};

struct foreign_option {
  std::string_view place;  ///< a verb; or an option or an argument, for every verb that has it
  std::string_view words;  ///< with their dashes, separated by blanks
  std::string_view sentence;
};

[[nodiscard]] std::span<const foreign_verb> foreign_verbs();
/// The first that fits a verb applies.
[[nodiscard]] std::span<const foreign_option> foreign_options();

/// A word as verbs are spelt: in lower case, and of a command of Redis such as BF.ADD what it does.
[[nodiscard]] std::string verb_spelling(std::string_view word);

/// What to say about a word in place of a verb, or a command of Redis such as BF.ADD; empty: nothing.
[[nodiscard]] std::string_view about_foreign_verb(std::string_view word);

/// What to say about an option that a verb does not have; empty: nothing.
/// @param known  the verb, its options, and the names of its arguments
[[nodiscard]] std::string_view about_foreign_option(std::string_view option,
                                                    std::span<const std::string_view> known);

}  // namespace everseen::cli
