#include "everseen/cli/program/exit_code_of.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen::cli {

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
