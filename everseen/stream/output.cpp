#include "everseen/stream/output.hpp"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "everseen/store/disk.hpp"

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

}  // namespace everseen
