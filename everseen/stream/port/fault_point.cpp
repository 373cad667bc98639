#include "everseen/stream/port/fault_point.hpp"

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

namespace everseen {

namespace {

/// Which signal this process gets, and where.
struct wanted {
  int signal;
  std::string at{};
  std::atomic<int> passes_left{0};

  wanted(const char* variable, int what) : signal(what) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return;
    at = text;
    const std::size_t colon = at.find(':');
    int passes = 1;
    if (colon != std::string::npos) std::from_chars(text + colon + 1, text + at.size(), passes);
    at.resize(colon == std::string::npos ? at.size() : colon);
    passes_left = passes;
  }

  void pass(std::string_view name) {
    if (at.empty() || at != name) return;
    if (--passes_left == 0) std::raise(signal);
  }
};

}  // namespace

void fault_point(std::string_view name) noexcept {
  static wanted death("EVERSEEN_DIE_AT", SIGKILL), halt("EVERSEEN_STOP_AT", SIGSTOP);
  death.pass(name);
  halt.pass(name);
}

}  // namespace everseen
