#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "everseen/cli/verb/option_set.hpp"

namespace everseen::cli {

class printer;

/// Exit codes. Their values are stable, for scripts.
enum class exit_code : int {
  done = 0,
  negative = 1,  ///< the answer is no: a key is fresh, or the user declined
  usage = 2,     ///< invalid command line
  outage = 3,    ///< storage or a server failed
  damaged = 4,   ///< what is read is damaged or has no key, or a filter that must exist is missing
};

/// One use of a verb, as typed in a shell. Help and manual show it, and a test runs it.
struct example {
  std::string_view says;     ///< what it does, without a full stop
  std::string_view command;  ///< one shell line that begins with, or contains, `everseen`
  std::string_view scene{};  ///< shell lines that a test runs first, in the same empty directory
  exit_code ends = exit_code::done;
};

/// A verb's work after its options are parsed. The caller flushes the output and handles its errors.
using action = std::function<exit_code(printer&)>;

/// Whether options may also come from the environment and a file: see configuration.hpp.
enum class is_configurable : bool { no, yes };

/// One verb of the program: `everseen NAME ...`.
///
/// A verb is data plus one function: help, manual pages, completion and tests are generated from the same
/// description. Write one as a function `verb foo_verb()` in foo.cpp and list it in verbs.hpp.
struct verb {
  std::string_view name;
  std::string_view purpose;  ///< one sentence without a full stop, in the imperative
  std::string_view details;  ///< paragraphs for help and manual, separated by blank lines
  std::vector<example> examples;
  /// Adds the verb's options (see options.hpp) and returns its action.
  std::function<action(option_set&)> declare;
  is_configurable takes_configuration = is_configurable::no;
};

}  // namespace everseen::cli
