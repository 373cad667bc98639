#include "everseen/dedup/output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
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

namespace {

std::uint64_t unread_in(int pipe) noexcept {
  int unread = 0;
  return ::ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0 ? static_cast<std::uint64_t>(unread) : 0;
}

/// Of a socket nobody but the other end knows what it has not read.
bool is_fifo(int descriptor) noexcept {
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 && S_ISFIFO(about.st_mode);
}

}  // namespace

bool output::is_pipe() const noexcept {
  struct stat about {};
  return ::fstat(descriptor_, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

void output::wait_until_read(const std::function<bool()>& goes_on) const {
  using namespace std::chrono;
  microseconds pause{20};  // a reader that keeps up is soon done; one that does not costs no time
  constexpr microseconds longest{10'000};
  microseconds waited{0};
  while (is_fifo(descriptor_) && unread_in(descriptor_) > 0) {
    // Asked again: the reader may have taken the rest and then closed the pipe.
    if (is_abandoned() && unread_in(descriptor_) > 0) throw disk_error("write", name_, EPIPE);
    std::this_thread::sleep_for(pause);
    waited += pause;
    pause = std::min(2 * pause, longest);
    if (waited < milliseconds(100)) continue;
    if (!goes_on()) return;
    waited = microseconds(0);
  }
}

namespace {

/// Whether a file of CSV ends within a quoted field: a doubled quote within one counts twice.
bool has_open_quote(int file, off_t end, const std::string& name) {
  bool is_open = false;
  std::array<char, 1 << 16> bytes;
  for (off_t place = 0; place < end;) {
    const auto wanted = std::min<off_t>(end - place, bytes.size());
    const ssize_t got = ::pread(file, bytes.data(), static_cast<std::size_t>(wanted), place);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw disk_error("read", name, errno);
    if (got == 0) return false;
    is_open ^= std::count(bytes.begin(), bytes.begin() + got, '"') % 2 != 0;
    place += got;
  }
  return is_open;
}

}  // namespace

bool output::end_record(char separator, bool quoted) {
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  const bool appends = (::fcntl(descriptor_, F_GETFL) & O_APPEND) != 0;
  const off_t end = appends ? about.st_size : ::lseek(descriptor_, 0, SEEK_CUR);
  // The descriptor itself may be for writing only.
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor_);
  const descriptor readable(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char last = separator;
  if (end <= 0 || !readable || ::pread(readable.get(), &last, 1, end - 1) != 1) return false;
  const bool is_open = quoted && has_open_quote(readable.get(), end, name_);
  if (last == separator && !is_open) return false;
  if (is_open) write("\"");
  write({&separator, 1});
  return true;
}

bool output::is_untouched() const noexcept {
  return is_fifo(descriptor_) && unread_in(descriptor_) >= bytes_;
}

bool output::is_file() const noexcept {
  struct stat about {};
  return ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
}

void output::sync() const {
  if (is_file() && ::fdatasync(descriptor_) != 0) throw disk_error("sync", name_, errno);
}

void output::check_reader() const {
  if (is_abandoned()) throw disk_error("write", name_, EPIPE);
}

}  // namespace everseen
