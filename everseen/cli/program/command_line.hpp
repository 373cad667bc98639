#pragma once

#include <vector>

#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"

/// The only interface to the library that parses command lines.
namespace everseen::cli {

/// An option that was typed, and its values; none for a switch.
struct typed_option {
  const option* declared;
  words values;
};

/// The words do not match the options.
class bad_command_line : public parameter_error {
 public:
  bad_command_line(const std::string& problem, words unknown)
      : parameter_error(problem), unknown_(std::move(unknown)) {}
  /// Words that no option and no argument takes; empty if something else is wrong.
  [[nodiscard]] const words& unknown() const noexcept { return unknown_; }

 private:
  words unknown_;
};

/// Parses the words and passes each option its values, in the order of the options.
/// @throws bad_command_line    @throws parameter_error  as the options' readers
std::vector<typed_option> read_command_line(const option_set& options, const words& typed);

}  // namespace everseen::cli
