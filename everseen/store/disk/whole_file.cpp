#include "everseen/store/disk/whole_file.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/port/damage.hpp"

namespace everseen {

namespace {

void write_beside(disk& on, const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) throw disk_error("create", path, errno);
  check_disk(on.reserve(file.get(), bytes.size(), path), "reserve space for", path);
  write_all(file.get(), bytes, path);
  check_disk(on.sync_file(file.get(), path), "sync", path);
}

}  // namespace

void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw disk_error("write", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::vector<std::byte> read_whole(const descriptor& file, const std::filesystem::path& path,
                                  std::uint64_t most) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("read the length of", path, errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most)
    throw damaged(path, "is " + std::to_string(size) + " bytes long; its maximum is " + std::to_string(most));
  std::vector<std::byte> bytes(size);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw disk_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

void replace_whole(disk& on, const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::path beside = path;
  beside += ".new";
  try {
    write_beside(on, beside, bytes);
    check_disk(on.rename(beside, path), "replace", path);
  } catch (...) {
    ::unlink(beside.c_str());  // frees space, if that was missing
    throw;
  }
}

}  // namespace everseen
