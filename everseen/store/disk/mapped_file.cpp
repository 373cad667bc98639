#include "everseen/store/disk/mapped_file.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/disk/descriptor.hpp"

namespace everseen {

namespace {

void write_head(int file, std::span<const std::byte> head, const std::filesystem::path& path) {
  const ssize_t written = ::pwrite(file, head.data(), head.size(), 0);
  if (written < 0) throw disk_error("write", path, errno);
  // Within one reserved page the kernel writes all or nothing; a shorter write is a faulty disk.
  if (static_cast<std::size_t>(written) != head.size()) throw disk_error("write", path, EIO);
}

}  // namespace

mapped_file mapped_file::create(disk& on, const std::filesystem::path& path, std::span<const std::byte> head,
                                std::uint64_t bytes) {
  const descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) throw disk_error("create", path, errno);
  try {
    check_disk(on.reserve(file.get(), bytes, path), "reserve space for", path);
    write_head(file.get(), head, path);
    check_disk(on.sync_file(file.get(), path), "sync", path);
    return {on, path, file.get(), bytes, access::write};
  } catch (...) {
    ::unlink(path.c_str());  // nothing refers to it; if this fails too, the next writer removes it
    throw;
  }
}

std::optional<mapped_file> mapped_file::open(disk& on, const std::filesystem::path& path, access how) {
  const int flags = (how == access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  const descriptor file(::open(path.c_str(), flags));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("read the length of", path, errno);
  return mapped_file(on, path, file.get(), static_cast<std::size_t>(status.st_size), how);
}

mapped_file::mapped_file(disk& on, std::filesystem::path path, int file, std::size_t size, access how)
    : disk_(&on), path_(std::move(path)), size_(size) {
  if (size == 0) return;  // mmap rejects an empty range; the owner reports the short file
  const int protection = how == access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* at = ::mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw disk_error("map", path_, errno);
  at_ = static_cast<std::byte*>(at);
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : disk_(other.disk_),
      path_(std::move(other.path_)),
      at_(std::exchange(other.at_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

mapped_file::~mapped_file() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

void mapped_file::sync() const {
  check_disk(disk_->sync_mapping(at_, size_, path_), "sync", path_);
}

}  // namespace everseen
