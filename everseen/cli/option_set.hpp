#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::cli {

using words = std::vector<std::string>;

/// One option or argument of a verb, as the reader of a manual sees it.
struct manual_entry {
  words flags;  ///< with their dashes; empty for an argument
  std::string
      value;  ///< what it takes, as in RATE or grow|refuse; [=FILE] may be left out; empty for a switch
  std::string text;      ///< what it does
  std::string standard;  ///< the default, if it is worth showing
  bool required = false;
  bool many = false;  ///< an argument that takes all words that are left

  /// `-o, --output FILE`, or `KEY...`
  [[nodiscard]] std::string heading() const;
  /// The text with the default.
  [[nodiscard]] std::string body() const;
  /// The next word of a command line is its value; [=FILE] is part of the same word.
  [[nodiscard]] bool takes_a_word() const noexcept { return !value.empty() && !value.starts_with("[="); }
  /// The words that may stand for the value, where there is a fixed set.
  [[nodiscard]] std::vector<std::string> choices() const;
  /// The long flag without its dashes, by which messages, the environment and files know it; empty for an
  /// argument.
  [[nodiscard]] std::string name() const;
};

/// An option with what becomes of its values.
struct option {
  manual_entry shown;
  /// Takes the values as they were typed, in their order; of a switch, none.    Throws parameter_error.
  std::function<void(const words& values)> read;
  std::string alone{};  ///< the value of [=FILE] that was left out
};

/// Everything that a verb takes, as data: the command line, help, manual pages, completion and configuration
/// are made from it. Arguments take words in their order.
using option_set = std::vector<option>;

}  // namespace everseen::cli
