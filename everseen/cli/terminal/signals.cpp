#include "everseen/cli/terminal/signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace everseen::cli {

namespace {

// Written by the handler on one thread, read by all: volatile sig_atomic_t serves only one thread.
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a handler must not wait");

void note(int signal) {
  received = signal;
}

}  // namespace

void make_failed_writes_errors() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void note_signals() noexcept {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction noted {};
    noted.sa_handler = note;
    noted.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &noted, nullptr);
  }
}

bool is_signalled() noexcept {
  return received != 0;
}

void stop_if_signalled() {
  if (const int signal = received; signal != 0) throw stopped{signal};
}

void die_by(int signal) noexcept {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);  // only if the signal is blocked
}

}  // namespace everseen::cli
