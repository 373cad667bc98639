#include "everseen/store/disk/lock_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

/// Whether a file as /proc/locks names it, as in fe:01:1234, is this one.
bool is_named(std::string_view named, const struct stat& file) {
  std::uint64_t parts[3] = {};
  const char* cursor = named.data();
  const char* const end = cursor + named.size();
  for (int i = 0; i < 3; ++i) {
    const auto read = std::from_chars(cursor, end, parts[i], i < 2 ? 16 : 10);
    if (read.ec != std::errc{}) return false;
    cursor = read.ptr == end ? end : read.ptr + 1;
  }
  return parts[0] == major(file.st_dev) && parts[1] == minor(file.st_dev) && parts[2] == file.st_ino;
}

/// The process that holds a flock on the file; 0: unknown, as for a process of another container.
pid_t holder(const struct stat& file) {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, named;
    pid_t process = 0;
    if (words >> number >> kind >> mode >> access >> process >> named; words && kind == "FLOCK")
      if (is_named(named, file)) return process;
  }
  return 0;
}

}  // namespace

std::string lock_file::holder_of(const std::filesystem::path& path) {
  struct stat file {};
  const pid_t process = ::stat(path.c_str(), &file) == 0 ? holder(file) : 0;
  if (process <= 0) return "another process";
  if (process == ::getpid()) return "another part of this process";
  std::string program;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), program);
  return "process " + std::to_string(process) + (program.empty() ? "" : " (" + program + ")");
}

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

lock_file reserve_to_serve(const std::filesystem::path& file) {
  const std::filesystem::path directory = std::filesystem::absolute(file);
  make_directories(disk::real(), directory);
  // Filter names do not start with a dot.
  const std::filesystem::path path = directory / ".served";
  if (auto lock = lock_file::try_take(path)) {
    std::ofstream(path, std::ios::trunc) << ::getpid() << '\n';  // for the next server's error message
    return *std::move(lock);
  }
  long holder = 0;
  std::ifstream(path) >> holder;
  throw storage_error("another everseen serve" +
                          (holder > 0 ? " (process " + std::to_string(holder) + ")" : "") +
                          " has the filters in " + directory.string() +
                          "; connect to that server instead, stop it, or give this one another --store",
                      EWOULDBLOCK, directory.string());
}

}  // namespace everseen
