#include "everseen/cli/signals.hpp"

#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace everseen::cli {

namespace {

volatile std::sig_atomic_t received = 0;

void note(int signal) {
  received = signal;
}

}  // namespace

void ignore_closed_pipes() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
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

void stop_if_signalled() {
  if (received != 0) throw stopped{received};
}

void die_by(int signal) noexcept {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);  // only if the signal is blocked
}

}  // namespace everseen::cli
