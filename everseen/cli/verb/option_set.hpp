#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::cli {

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

}  // namespace everseen::cli
