#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

/// The description of a verb. Help, manual pages and completion scripts are generated from it.
struct manual_page {
  const verb* described = nullptr;
  std::vector<manual_entry> arguments;
  std::vector<manual_entry> options;

  /// `everseen add [OPTION...] NAME [KEY...]`
  [[nodiscard]] std::string usage() const;
  /// All long and short options.
  [[nodiscard]] std::vector<std::string_view> flags() const;
  /// The verb, all its options, and the names of its arguments.
  [[nodiscard]] std::vector<std::string_view> words() const;
  [[nodiscard]] bool takes_keys() const;
};

[[nodiscard]] manual_page describe(const verb& v);

/// The output of `everseen VERB --help`.
[[nodiscard]] std::string help_text(const manual_page& page);

/// The output of `everseen --help`.
[[nodiscard]] std::string overview_text();

/// Text wrapped at blanks into lines of at most `width`, all but the first indented. Paragraphs are kept.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// Entries about exit codes and the environment that every page has.
struct constant_entry {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const std::vector<constant_entry>& exit_codes();
[[nodiscard]] const std::vector<constant_entry>& environment();
/// The forms of a store's URL.
[[nodiscard]] const std::vector<constant_entry>& store_urls();
/// The options after the ? of a Redis URL.
[[nodiscard]] const std::vector<constant_entry>& redis_url_options();

/// Manual pages in roff, generated from the descriptions of the verbs.

[[nodiscard]] std::string overview_page();
[[nodiscard]] std::string verb_page(const verb& v);

}  // namespace everseen::cli
