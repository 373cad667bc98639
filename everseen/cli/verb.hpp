#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "everseen/cli/option_set.hpp"

namespace everseen::cli {

class printer;

/// How every verb ends. The values are promised to scripts.
enum class exit_code : int {
  done = 0,
  negative = 1,  ///< the answer is no: some key is fresh, the user declined
  usage = 2,     ///< the command line makes no sense
  outage = 3,    ///< storage or a server did not do its part
  damaged = 4,   ///< stored or received bytes are damaged
};

/// One use of a verb, as typed at a shell. Help and manual show it, and a test runs it.
struct example {
  std::string_view says;     ///< what it does, without a full stop
  std::string_view command;  ///< one shell line that begins with, or contains, `everseen`
  std::string_view scene{};  ///< shell lines that a test runs first, in the same empty directory
  exit_code ends = exit_code::done;
};

/// What a verb does once its options are read. The output is flushed, and its errors noticed, by the caller.
using action = std::function<exit_code(printer&)>;

/// Whether options may also come from the environment and a file: see configuration.hpp.
enum class is_configurable : bool { no, yes };

/// One word of the program: `everseen NAME ...`.
///
/// A verb is data plus one function: help, manual pages, completion and tests are made from the same
/// description. Write one as a function `verb foo_verb()` in foo.cpp and list it in verbs.hpp.
struct verb {
  std::string_view name;
  std::string_view purpose;  ///< one sentence without a full stop, in the imperative
  std::string_view details;  ///< paragraphs for help and manual, separated by blank lines
  std::vector<example> examples;
  /// Adds the verb's options (see options.hpp) and returns what to do when they have been read.
  std::function<action(option_set&)> declare;
  is_configurable takes_configuration = is_configurable::no;
};

}  // namespace everseen::cli
