#include "everseen/store/disk/disk.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace everseen {

namespace {

int errno_unless(bool done) noexcept {
  return done ? 0 : errno;
}

std::string advice_for(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space, or use a larger disk";
    case EFBIG:
      return "; the file would exceed the size limit of this process (ulimit -f) or of the file system";
    case EACCES:
    case EPERM:
      return "; check who owns the directory and its mode";
    case EROFS:
      return "; the file system is mounted read-only: open the filter for reading, or mount it writable";
    case ENOTDIR:
      return "; a file is where the store's directory should be: choose another directory";
    case EMFILE:
    case ENFILE:
      return "; raise the limit of open files (ulimit -n)";
    case ENOMEM:
      return "; the filter has too many segments for vm.max_map_count, or address space is short";
    case EIO:
      return "; the disk reports an error: look at the kernel's log and check the disk";
    default:
      return "";
  }
}

}  // namespace

int disk::reserve(int file, std::uint64_t bytes, const std::filesystem::path& /*path*/) {
  int code = EINTR;
  while (code == EINTR) code = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  return code;
}

int disk::write(int file, std::uint64_t place, std::span<const std::byte> bytes,
                const std::filesystem::path& /*path*/) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    place += static_cast<std::size_t>(written);
  }
  return 0;
}

int disk::sync_file(int file, const std::filesystem::path& /*path*/) {
  return errno_unless(::fsync(file) == 0);
}

int disk::sync_mapping(std::byte* memory, std::size_t bytes, const std::filesystem::path& /*path*/) {
  return errno_unless(::msync(memory, bytes, MS_SYNC) == 0);
}

int disk::sync_directory(const std::filesystem::path& path) {
  const descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return errno;
  return errno_unless(::fsync(directory.get()) == 0);
}

int disk::rename(const std::filesystem::path& from, const std::filesystem::path& target) {
  return errno_unless(std::rename(from.c_str(), target.c_str()) == 0);
}

int disk::exchange(const std::filesystem::path& one, const std::filesystem::path& other) {
  return errno_unless(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0);
}

int disk::unlink(const std::filesystem::path& path) {
  return errno_unless(::unlink(path.c_str()) == 0);
}

namespace {

/// Parses 32 hexadecimal digits and ignores other characters.
boot_id boot_in(std::istream& text) {
  boot_id id{};
  std::size_t digits = 0;
  for (char c = 0; digits < 2 * id.size() && text.get(c);) {
    int value = 0;
    if (std::from_chars(&c, &c + 1, value, 16).ec != std::errc()) continue;
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | value);
    ++digits;
  }
  return digits == 2 * id.size() ? id : boot_id{};
}

}  // namespace

boot_id disk::boot() {
  static const boot_id mine = [] {
    std::ifstream text("/proc/sys/kernel/random/boot_id");
    return boot_in(text);
  }();
  return mine;
}

disk& disk::real() {
  static disk one;
  return one;
}

storage_error disk_error(const std::string& tried, const std::filesystem::path& path, int code) {
  return {"cannot " + tried + " " + path.string() + ": " + std::generic_category().message(code) +
              advice_for(code),
          code, path.string()};
}

void check_disk(int code, const char* tried, const std::filesystem::path& path) {
  if (code != 0) throw disk_error(tried, path, code);
}

namespace {

/// The process that created it may have crashed before it synced the name.
void keep_name(disk& on, const std::filesystem::path& directory) {
  const std::filesystem::path parent =
      directory.has_filename() ? directory.parent_path() : directory.parent_path().parent_path();
  const int code = on.sync_directory(parent);
  // This user may not list the parent, or nothing is written where it is: so nobody has just created the
  // directory there, such as a mount point.
  if (code == EACCES || code == EINVAL || code == EROFS) return;
  check_disk(code, "sync", parent);
}

}  // namespace

/// A power loss may take a directory that is being made, but never the path to a filter whose keys were
/// acknowledged.
void make_directories(disk& on, const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return keep_name(on, path);
  const std::filesystem::path parent = path.parent_path();
  if (parent == path) throw disk_error("look at", path, code ? code.value() : ENOENT);
  make_directories(on, parent);
  if (!path.has_filename()) return;  // a trailing slash
  std::filesystem::create_directory(path, code);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored))
    code = std::make_error_code(std::errc::not_a_directory);
  check_disk(code.value(), "create the directory", path);
  check_disk(on.sync_directory(parent), "sync", parent);
}

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
