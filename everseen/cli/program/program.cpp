#include "everseen/cli/program/program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/program/command_line.hpp"
#include "everseen/cli/program/configuration.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/foreign_words.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen::cli {

namespace {

bool asks_for_help(const words& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const auto& a) { return a == "--help" || a == "-h"; });
}

/// An optional value must follow its option with =.
std::optional<std::string> meant_as_value(const words& typed, const std::string& left) {
  const auto found = std::find(typed.begin(), typed.end(), left);
  if (found == typed.begin() || found == typed.end() || !(found - 1)->starts_with("--")) return std::nullopt;
  return fmt::format("if it is the value of {0}, write {0}={1}", *(found - 1), left);
}

/// What to do instead of an option that the verb does not have; empty: nothing is known.
std::string instead_of(std::string_view option, const manual_page& page) {
  const std::vector<std::string_view> known = page.words();
  if (const std::string_view sentence = about_foreign_option(option, known); !sentence.empty())
    return std::string(sentence);
  if (const std::string_view meant = nearest(option, page.flags()); !meant.empty())
    return fmt::format("did you mean {}?", meant);
  // A letter with its value, as in -f1, or several letters.
  const bool is_letter = option.size() > 2 && option[1] != '-';
  return is_letter ? std::string(about_foreign_option(option.substr(0, 2), known)) : "";
}

/// The error message for words that cannot be parsed.
std::string explain(const verb& v, const words& typed_words, const bad_command_line& fault) {
  const std::string help = fmt::format("see everseen {} --help", v.name);
  if (fault.unknown().empty()) return fmt::format("{}: {}; {}", v.name, fault.what(), help);
  const words& unknown = fault.unknown();
  const bool are_arguments = unknown.front() == "--" && unknown.size() > 1;
  const std::string& left = unknown[are_arguments ? 1 : 0];
  if (are_arguments || !left.starts_with("-"))
    return fmt::format("{}: '{}' is one argument too many; {}", v.name, left,
                       meant_as_value(typed_words, left).value_or(help));

  const manual_page page = describe(v);
  const std::string typed = left.substr(0, left.find('='));
  const std::string instead = instead_of(typed, page);
  const std::string dashed = page.takes_keys() ? "; write -- before keys that begin with a dash" : "";
  return fmt::format("{} has no option {}; {}{}", v.name, typed, instead.empty() ? help : instead, dashed);
}

/// The word help alone, as other programs take it after a verb, could as well be a file or a filter.
void must_not_mean_help(const verb& v, const words& arguments) {
  if (arguments != words{"help"}) return;
  const bool takes_names = !describe(v).arguments.empty();
  throw parameter_error(fmt::format(
      "for help, write everseen {0} --help{1}", v.name,
      takes_names ? fmt::format("; for an argument that is the word help, everseen {} -- help", v.name)
                  : ""));
}

exit_code run_verb(const verb& v, words arguments, printer& out) {
  if (asks_for_help(arguments)) {
    out.write(help_text(describe(v)));
    return exit_code::done;
  }
  must_not_mean_help(v, arguments);
  std::optional<configuration> given;
  if (v.takes_configuration == is_configurable::yes) {
    given = configure(v, arguments);
    // Empty if the line cannot be parsed; the parser below reports that.
    if (!given->settings.empty()) arguments = given->arguments();
  }
  option_set options;
  const action run = v.declare(options);
  try {
    read_command_line(options, arguments);
  } catch (const bad_command_line& fault) {
    throw parameter_error(explain(v, arguments, fault));
  }
  const exit_code code = run(out);
  if (given && given->checks_only()) print_configuration(v, *given, out);
  return code;
}

exit_code dispatch(words arguments, printer& out) {
  if (arguments.empty())
    throw parameter_error("give a verb, as in everseen create NAME; everseen --help lists the verbs");
  const std::string first = arguments.front();
  if (first == "--version" || first == "-V") {
    out.write("everseen " EVERSEEN_VERSION "\n");
  } else if (first == "--help" || first == "-h" || first == "help") {
    if (first != "help" || arguments.size() == 1 || arguments[1].starts_with("-"))
      out.write(overview_text());
    else
      out.write(help_text(describe(need_verb(arguments[1]))));
  } else {
    arguments.erase(arguments.begin());
    return run_verb(need_verb(first), std::move(arguments), out);
  }
  return exit_code::done;
}

}  // namespace

int run_program(std::span<const char* const> arguments) {
  make_failed_writes_errors();
  return exit_code_of([&] {
    printer out(STDOUT_FILENO, "standard output");
    const exit_code code = dispatch(words(arguments.begin() + !arguments.empty(), arguments.end()), out);
    out.flush();
    return code;
  });
}

namespace {

/// Prints one line, whatever an operating system or a file name put into the message.
int complain(exit_code code, std::string_view message) {
  std::string text(message);
  std::ranges::replace(text, '\n', ' ');
  const std::string line = "everseen: " + without_controls(text) + '\n';
  // If standard error has failed too, nothing is left to do.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  return static_cast<int>(code);
}

/// If a signal ended the wait for a store, the process ends by it.
int complain_of_outage(std::string_view message) {
  const int code = complain(exit_code::outage, message);
  try {
    stop_if_signalled();
  } catch (const stopped& stop) {
    die_by(stop.signal);
  }
  return code;
}

}  // namespace

int exit_code_of(const std::function<exit_code()>& work) {
  try {
    return static_cast<int>(work());
  } catch (const stopped& stop) {
    die_by(stop.signal);
  } catch (const parameter_error& e) {
    return complain(exit_code::usage, e.what());
  } catch (const format_error& e) {
    return complain(exit_code::damaged, e.what());
  } catch (const storage_error& e) {
    if (e.code() == EPIPE) die_by(SIGPIPE);  // the reader has all it wants; other tools end like this too
    return complain_of_outage(e.what());
  } catch (const error& e) {  // full_error, backend_error
    return complain_of_outage(e.what());
  } catch (const std::bad_alloc&) {
    return complain(exit_code::outage, "out of memory; give the machine more, or ask for a smaller filter");
  } catch (const std::exception& e) {
    return complain(exit_code::outage, std::string("this is a bug: ") + e.what() + "; please report it");
  }
}

}  // namespace everseen::cli
