#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/verb.hpp"

namespace everseen::cli {

/// One option or argument of a verb, as the reader of a manual sees it.
struct manual_entry {
  std::vector<std::string> flags;  ///< with their dashes; empty for an argument
  std::string value;               ///< what it takes, as in RATE or grow|refuse; empty for a switch
  std::string text;                ///< what it does
  std::string standard;            ///< the default, if it is worth showing
  bool required = false;
  bool many = false;

  /// `-o, --output FILE`, or `KEY...`
  [[nodiscard]] std::string heading() const;
  /// The text with the default.
  [[nodiscard]] std::string body() const;
  /// The next word of a command line is its value; [=FILE] is part of the same word.
  [[nodiscard]] bool takes_a_word() const noexcept { return !value.empty() && !value.starts_with("[="); }
  /// The words that may stand for the value, where there is a fixed set.
  [[nodiscard]] std::vector<std::string> choices() const;
};

/// Everything there is to say about a verb. Help, manual pages and completion scripts are made from it.
struct manual_page {
  const verb* of = nullptr;
  std::vector<manual_entry> arguments;
  std::vector<manual_entry> options;

  /// `everseen add [OPTION...] NAME [KEY...]`
  [[nodiscard]] std::string usage() const;
  /// All long and short options.
  [[nodiscard]] std::vector<std::string_view> flags() const;
  [[nodiscard]] bool takes_keys() const;
};

[[nodiscard]] manual_page describe(const verb& v);

/// What `everseen VERB --help` prints.
[[nodiscard]] std::string help_text(const manual_page& page);

/// What `everseen --help` prints.
[[nodiscard]] std::string overview_text();

/// Text broken at blanks into lines of at most `width`, each but the first indented. Paragraphs stay.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// What every page says of exit codes and the environment.
struct constant_entry {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const std::vector<constant_entry>& exit_codes();
[[nodiscard]] const std::vector<constant_entry>& environment();
/// What a store's URL may be.
[[nodiscard]] const std::vector<constant_entry>& store_urls();
/// What may stand behind the ? of a Redis URL.
[[nodiscard]] const std::vector<constant_entry>& redis_url_options();

}  // namespace everseen::cli
