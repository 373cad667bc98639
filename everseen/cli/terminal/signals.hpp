#pragma once

namespace everseen::cli {

/// Thrown if work stops because of a signal, so that stores are closed. The program (program.cpp) then
/// ends the process by the same signal, as a shell expects.
struct stopped {
  int signal;
};

/// Turns a closed pipe (SIGPIPE) and a file that would exceed `ulimit -f` (SIGXFSZ) into errors of write(),
/// so that stores are closed before the process ends, and the second is explained.
void make_failed_writes_errors() noexcept;

/// From now on the first SIGINT, SIGTERM or SIGHUP is only recorded; stop_if_signalled() acts on it. A
/// second one ends the process immediately. Signals that the parent ignores (nohup, background jobs) stay
/// ignored.
///
/// For verbs that change a store for a long time. The others may be killed at any point.
void note_signals() noexcept;

/// Whether a recorded signal has asked the program to end.
[[nodiscard]] bool is_signalled() noexcept;

/// @throws stopped  a recorded signal has asked the program to end
void stop_if_signalled();

/// Ends the process by the signal's default action.
[[noreturn]] void die_by(int signal) noexcept;

}  // namespace everseen::cli
