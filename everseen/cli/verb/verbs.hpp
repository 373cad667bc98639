#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::cli {

class printer;

using words = std::vector<std::string>;

/// One option or argument of a verb, as a manual shows it.
struct manual_entry {
  words flags;           ///< with their dashes; empty for an argument
  std::string value;     ///< its value, as in RATE or grow|refuse; [=FILE] is optional; empty for a switch
  std::string text;      ///< what it does
  std::string standard;  ///< the default, if it is worth showing
  bool required = false;
  bool many = false;     ///< an argument that takes all remaining words
  bool repeats = false;  ///< an option that may be given several times, each with a value

  /// `-o, --output FILE`, or `KEY...`
  [[nodiscard]] std::string heading() const;
  /// The text with the default.
  [[nodiscard]] std::string body() const;
  /// Whether its value is the next word of a command line; [=FILE] is part of the same word.
  [[nodiscard]] bool takes_a_word() const noexcept { return !value.empty() && !value.starts_with("[="); }
  /// The words of a fixed choice.
  [[nodiscard]] std::vector<std::string> choices() const;
  /// The long flag without its dashes, which is its name in messages, the environment and files; empty for
  /// an argument.
  [[nodiscard]] std::string name() const;
};

/// An option and the function that takes its values.
struct option {
  manual_entry shown;
  /// Takes the values as typed, in order; none for a switch.    @throws parameter_error
  std::function<void(const words& values)> read;
  std::string alone{};  ///< the value if [=FILE] is omitted
};

/// Everything that a verb accepts, as data: the command line, help, manual pages, completion and
/// configuration are generated from it. Arguments take words in order.
using option_set = std::vector<option>;

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
/// description. Write one as a function `verb foo_verb()` in foo.cpp (short ones share a file), declare it
/// below and list it in verbs.cpp.
struct verb {
  std::string_view name;
  std::string_view purpose;  ///< one sentence without a full stop, in the imperative
  std::string_view details;  ///< paragraphs for help and manual, separated by blank lines
  std::vector<example> examples;
  /// Adds the verb's options (see options.hpp) and returns its action.
  std::function<action(option_set&)> declare;
  is_configurable takes_configuration = is_configurable::no;
};

verb add_verb();
verb attach_verb();
verb bench_verb();
verb check_verb();
verb completion_verb();
verb counts_verb();
verb create_verb();
verb dedup_verb();
verb drop_verb();
verb explain_verb();
verb export_verb();
verb gen_verb();
verb hash_verb();
verb import_verb();
verb info_verb();
verb jobs_verb();
verb link_verb();
verb list_verb();
verb man_verb();
verb merge_verb();
verb migrate_verb();
verb plan_verb();
verb rebuild_verb();
verb rename_verb();
verb reset_verb();
verb serve_verb();
verb stream_verb();
verb top_verb();

/// All verbs, in the order of the help.
[[nodiscard]] const std::vector<verb>& all_verbs();

/// The verb of this name, or null.
[[nodiscard]] const verb* find_verb(std::string_view name);

/// @throws parameter_error  unknown verb; suggests the closest
[[nodiscard]] const verb& need_verb(std::string_view name);

}  // namespace everseen::cli
