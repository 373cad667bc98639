#pragma once

namespace everseen::cli {

/// Thrown where work stops because of a signal, so that stores are closed on the way out. The edge then ends
/// the process by that same signal, which is what a shell expects to see.
struct stopped {
  int signal;
};

/// A closed pipe (SIGPIPE) and a file that would exceed `ulimit -f` (SIGXFSZ) become errors of write(), so
/// that stores are closed before the process ends, and the second is explained.
void make_failed_writes_errors() noexcept;

/// From now on the first SIGINT, SIGTERM or SIGHUP is only noted; stop_if_signalled() acts on it. A second
/// one ends the process at once. Signals that the parent switched off (nohup, background jobs) stay so.
///
/// For verbs that change a store for long. The others may die at any point.
void note_signals() noexcept;

/// Whether a noted signal has asked the program to end.
[[nodiscard]] bool is_signalled() noexcept;

/// @throws stopped  if a noted signal has asked the program to end
void stop_if_signalled();

/// Ends the process by the signal's default action.
[[noreturn]] void die_by(int signal) noexcept;

}  // namespace everseen::cli
