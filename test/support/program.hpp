#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "test/support/sanitizer.hpp"

namespace everseen::test {

/// How a program is started.
struct program_setup {
  std::map<std::string, std::string> environment{};  ///< in addition to the test's own
  std::filesystem::path directory{};                 ///< its working directory; empty: the test's
  std::string input{};                               ///< its standard input, a regular file
  bool piped_input = false;                          ///< instead: a pipe, see running_program::write
};

/// How a program ended.
struct program_result {
  int exit_code = -1;            ///< as in a shell: 128 + the signal that ended it
  std::string out;               ///< all of its standard output
  std::string err;               ///< all of its standard error
  bool too_slow = false;         ///< it was killed because it timed out
  std::uint64_t peak_bytes = 0;  ///< peak resident memory of it, or of a child that it waited for
};

/// How long a program may run.
inline constexpr std::chrono::seconds longest_run{is_sanitized ? 600 : 120};

/// A program that runs in parallel to the test. The destructor kills it. Threads: send() and has_ended()
/// any.
class running_program {
 public:
  /// @param command  the program, looked up in PATH, and its arguments
  explicit running_program(const std::vector<std::string>& command, const program_setup& setup = {});
  ~running_program();
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;

  /// Writes to its piped input.
  void write(std::string_view text);
  void close_input();
  void send(int signal);  ///< does nothing after wait() has returned

  /// Its output so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// Waits until it has written `text`; false after `limit`.
  [[nodiscard]] bool waits_to_say(std::string_view text,
                                  std::chrono::seconds limit = std::chrono::seconds(30)) const;

  [[nodiscard]] bool has_ended() const;
  /// Waits for its end, whose status wait() still returns; false after `limit`.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds limit) const;
  /// Waits until SIGSTOP has stopped it; false if it ended instead.
  [[nodiscard]] bool waits_to_stop() const;
  /// Waits for its end; kills it after `limit`.    @throws std::logic_error  the second time
  program_result wait(std::chrono::seconds limit = longest_run);

 private:
  std::atomic<pid_t> process_ = -1;
  int end_ = -1;    // readable once the process has ended
  int input_ = -1;  // our end of the pipe
  int out_ = -1;    // files in memory: they hold any amount and never block the program
  int err_ = -1;
};

/// Runs a program to its end.
program_result run_program(const std::vector<std::string>& command, const program_setup& setup = {});

}  // namespace everseen::test
