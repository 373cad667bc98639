#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/option_set.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/verb.hpp"

/// Options of a verb that are not typed: from the environment and from a file, under the same names.
///
/// What is typed counts first, then the environment ($EVERSEEN_MAX_CONNECTIONS), then the file that --config
/// or $EVERSEEN_CONFIG names, where each verb has a table ([serve] max-connections = 1000).
namespace everseen::cli {

/// One option as it is in force.
struct setting {
  std::string name;     ///< without dashes
  words values{};       ///< of a switch: none
  std::string source;   ///< for people to read
  bool is_off = false;  ///< a switch that is not to be set, whatever comes after it says
};

/// All options that somebody has given.
struct configuration {
  std::vector<setting> settings{};
  /// The command line that says it all; of what is off, nothing.
  [[nodiscard]] words arguments() const;
  /// Whether --check-config was typed.
  [[nodiscard]] bool checks_only() const;
};

/// @param typed  the arguments of the verb
/// @return nothing where what is typed cannot be parsed: it is then to be run, and refused, as it is
/// @throws parameter_error  a name that the verb does not know, a value that makes no sense, a file that
/// cannot be read; says where it stands and what was probably meant
[[nodiscard]] configuration configure(const verb& v, const words& typed);

/// What --check-config shows: a file that says the same. Passwords are not shown.
void print_configuration(const verb& v, const configuration& c, printer& out);

}  // namespace everseen::cli
