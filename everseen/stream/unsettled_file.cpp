#include "everseen/stream/unsettled_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/disk.hpp"
#include "everseen/stream/output.hpp"

namespace everseen {

namespace {

constexpr std::size_t digits = 20;
constexpr std::size_t head_bytes = digits + 1;

std::string head_of(std::uint64_t length) {
  std::string text = std::to_string(length);
  return text.insert(0, digits - text.size(), '0') + '\n';
}

std::string name_beside(const std::filesystem::path& file) {
  return (file.parent_path() / ("." + file.filename().string() + ".unsettled")).string();
}

}  // namespace

unsettled_file::unsettled_file(const std::string& path) : path_(name_beside(path)) {}

void unsettled_file::open(int more_flags) {
  file_ = descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0666));
}

void unsettled_file::begin(std::uint64_t length) {
  if (!file_) {
    open(O_CREAT);
    if (!file_) throw disk_error("write", path_, errno);
    const auto directory = std::filesystem::path(path_).parent_path();
    check_disk(disk::real().sync_directory(directory), "sync", directory);
  }
  if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
    throw disk_error("cut", path_, errno);
  output(file_.get(), path_).write(head_of(length));
  from_ = to_ = length;
}

/// One whose head is not whole has nothing behind it: it was never synced, and so never settled.
void unsettled_file::find() {
  open(0);
  if (!file_ && errno == ENOENT) return;
  if (!file_) throw disk_error("read", path_, errno);
  struct stat about {};
  std::array<char, head_bytes> head{};
  if (::fstat(file_.get(), &about) != 0) throw disk_error("read", path_, errno);
  const bool is_whole =
      ::pread(file_.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()) &&
      std::from_chars(head.data(), head.data() + digits, from_).ptr == head.data() + digits;
  if (!is_whole) from_ = 0;
  to_ = from_ + (is_whole ? static_cast<std::uint64_t>(about.st_size) - head_bytes : 0);
}

void unsettled_file::write(std::string_view text) {
  output(file_.get(), path_).write(text);
  to_ += text.size();
}

void unsettled_file::sync() const {
  check_disk(disk::real().sync_file(file_.get(), path_), "sync", path_);
}

std::string unsettled_file::read(std::uint64_t begin, std::size_t bytes) const {
  std::string text(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const auto at = static_cast<off_t>(head_bytes + (begin - from_) + done);
    const ssize_t got = ::pread(file_.get(), text.data() + done, bytes - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw disk_error("read", path_, got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
  return text;
}

void unsettled_file::remove() noexcept {
  if (!file_) return;
  ::unlink(path_.c_str());
  file_ = {};
  from_ = to_ = 0;
}

}  // namespace everseen
