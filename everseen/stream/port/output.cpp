#include "everseen/stream/port/output.hpp"

#include <cerrno>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

void output::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {  // shared with a program that made it non-blocking
        pollfd writable = {descriptor_, POLLOUT, 0};
        ::poll(&writable, 1, -1);
        continue;
      }
      throw disk_error("write", name_, errno);
    }
    bytes_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool output::is_abandoned() const noexcept {
  pollfd broken = {descriptor_, 0, 0};  // POLLERR and POLLHUP are always reported
  return ::poll(&broken, 1, 0) == 1 && (broken.revents & (POLLERR | POLLHUP)) != 0;
}

bool output::is_pipe() const noexcept {
  struct stat about {};
  return ::fstat(descriptor_, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

void output::check_reader() const {
  if (is_abandoned()) throw disk_error("write", name_, EPIPE);
}

}  // namespace everseen
