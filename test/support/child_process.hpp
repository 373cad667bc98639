#pragma once

#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace everseen::test {

/// A forked process that runs a function and sends numbers to its parent through a pipe.
///
/// Use it only while the test has one thread. Killed at the end of its scope if it still runs.
class child_process {
 public:
  using tell = std::function<void(int)>;

  explicit child_process(const std::function<void(const tell&)>& run) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    id_ = ::fork();
    if (id_ < 0) throw std::runtime_error("no process");
    if (id_ == 0) {
      ::close(ends[0]);
      run([to = ends[1]](int number) {
        if (::write(to, &number, sizeof number) != sizeof number) std::_Exit(99);
      });
      std::_Exit(0);  // without the parent's exit handlers
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~child_process() {
    kill();
    ::close(from_);
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// The next number it sends; nothing once it has ended and all was read.
  std::optional<int> next() {
    int number = 0;
    return ::read(from_, &number, sizeof number) == sizeof number ? std::optional(number) : std::nullopt;
  }

  /// Kills it, as `kill -9` does.
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
  }

 private:
  pid_t id_ = -1;
  int from_ = -1;
};

}  // namespace everseen::test
