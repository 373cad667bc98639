#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace everseen::test {

/// A pipe whose reading end has a path.
class pipe {
 public:
  explicit pipe(int flags = 0) {
    if (::pipe2(ends_, O_CLOEXEC | flags) != 0) throw std::runtime_error("no pipe");
  }
  ~pipe() {
    close_writer();
    close_reader();
  }
  pipe(const pipe&) = delete;
  pipe& operator=(const pipe&) = delete;

  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }
  [[nodiscard]] int reader() const noexcept { return ends_[0]; }
  [[nodiscard]] int writer() const noexcept { return ends_[1]; }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(ends_[1], text.data(), text.size());
      if (written < 0) throw std::runtime_error("cannot write to the pipe");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void close_writer() noexcept {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  void close_reader() noexcept {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  /// All bytes until the writer closes.
  [[nodiscard]] std::string read_all() {
    std::string all;
    char buffer[4096];
    for (ssize_t got; (got = ::read(ends_[0], buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<std::size_t>(got));
    return all;
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace everseen::test
