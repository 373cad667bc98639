/// Options of a verb that are not typed: from the environment and from a file, under the same names.
///
/// The command line has precedence, then the environment ($EVERSEEN_MAX_CONNECTIONS), then the file that
/// --config or $EVERSEEN_CONFIG names, with a table for each verb ([serve] max-connections = 1000).

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

/// One option in force.
struct setting {
  std::string name;     ///< without dashes
  words values{};       ///< empty for a switch
  std::string source;   ///< for people to read
  bool is_off = false;  ///< a switch that is set to false; lower-precedence sources cannot set it
};

/// All options that were given.
struct configuration {
  std::vector<setting> settings{};
  /// The equivalent command line; without switches that are off.
  [[nodiscard]] words arguments() const;
  /// Whether --check-config was typed.
  [[nodiscard]] bool checks_only() const;
};

/// @param typed  the arguments of the verb
/// @return nothing if `typed` cannot be parsed: run it unchanged, to get the error message
/// @throws parameter_error  an unknown name, an invalid value, or an unreadable file; the message has the
///         location and a suggestion
[[nodiscard]] configuration configure(const verb& v, const words& typed);

/// The output of --check-config: an equivalent file. Passwords are not shown.
void print_configuration(const verb& v, const configuration& c, printer& out);

/// The settings in a verb's table of a TOML file, in order.
/// @throws parameter_error  it is unreadable, is not TOML, or contains an unknown setting; names the line
[[nodiscard]] std::vector<setting> read_toml(const std::string& path, std::string_view verb);

/// A text as a TOML string.
[[nodiscard]] std::string toml_text(std::string_view value);

}  // namespace everseen::cli
