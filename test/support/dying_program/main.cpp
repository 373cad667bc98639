// everseen, of the same objects as the program that users run, but with crashes and failures on demand.
//
// EVERSEEN_DIE_AT=claimed:3 kills the process when it reaches `claimed` for the third time, as by kill -9.
// EVERSEEN_STOP_AT=claimed:3 stops it there, as by kill -STOP, until it is continued. The steps:
// fault_point.hpp. With EVERSEEN_FAIL_SYNC no bits of a filter in files can be synced.

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "everseen/cli/program/program.hpp"
#include "everseen/dedup/fault_point.hpp"

namespace {

/// Which signal this process gets, and where.
struct wanted {
  int signal;
  std::string step{};
  std::atomic<int> passes_left{0};

  wanted(const char* variable, int signal_number) : signal(signal_number) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return;
    step = text;
    const std::size_t colon = step.find(':');
    int passes = 1;
    if (colon != std::string::npos) std::from_chars(text + colon + 1, text + step.size(), passes);
    step.resize(colon == std::string::npos ? step.size() : colon);
    passes_left = passes;
  }

  void pass(std::string_view name) {
    if (step.empty() || step != name) return;
    if (--passes_left == 0) std::raise(signal);
  }
};

void pass(std::string_view step) noexcept {
  static wanted death("EVERSEEN_DIE_AT", SIGKILL), halt("EVERSEEN_STOP_AT", SIGSTOP);
  death.pass(step);
  halt.pass(step);
}

}  // namespace

/// In place of that of the C library.
extern "C" int msync(void* memory, std::size_t bytes, int flags) {
  if (std::getenv("EVERSEEN_FAIL_SYNC") == nullptr)
    return static_cast<int>(::syscall(SYS_msync, memory, bytes, flags));
  errno = EIO;
  return -1;
}

int main(int argc, char** argv) {
  everseen::on_fault_point = pass;
  return everseen::cli::run_program({argv, static_cast<std::size_t>(argc)});
}
