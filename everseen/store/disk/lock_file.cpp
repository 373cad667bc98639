#include "everseen/store/disk/lock_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

namespace {

/// Whether the path still refers to the open file; after a wait, the lock may be on a file removed meanwhile.
bool is_still_there(int file, const std::filesystem::path& path) {
  struct stat open {
  }, there{};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

}  // namespace

std::optional<lock_file> lock_file::lock(const std::filesystem::path& path, int operation, int more_flags) {
  for (;;) {
    descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0666));
    if (!file && errno == ENOENT && (more_flags & O_CREAT) == 0) return std::nullopt;
    if (!file) throw disk_error("open the lock", path, errno);
    int result = 0;
    do result = ::flock(file.get(), operation);
    while (result != 0 && errno == EINTR);
    if (result != 0 && errno == EWOULDBLOCK) return std::nullopt;
    if (result != 0) throw disk_error("lock", path, errno);
    if (is_still_there(file.get(), path)) return lock_file(std::move(file));
  }
}

std::optional<lock_file> lock_file::try_take(const std::filesystem::path& path) {
  return lock(path, LOCK_EX | LOCK_NB, O_CREAT);
}

std::optional<lock_file> lock_file::try_take_existing(const std::filesystem::path& path) {
  return lock(path, LOCK_EX | LOCK_NB, O_NOFOLLOW);
}

lock_file lock_file::take(const std::filesystem::path& path) {
  return *lock(path, LOCK_EX, O_CREAT);
}

}  // namespace everseen
