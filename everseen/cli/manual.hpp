#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/option_set.hpp"
#include "everseen/cli/verb.hpp"

namespace everseen::cli {

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
