#include "everseen/cli/terminal/files.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

namespace {

[[noreturn]] void cannot(const char* what, const std::string& path) {
  throw disk_error(what, path, errno);
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// The file that a link refers to, if it exists: /dev/stdout is such a link, and must not be replaced.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code there_is_none;
  std::filesystem::path found = std::filesystem::canonical(path, there_is_none);
  return there_is_none ? path : found;
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// The permissions of a file that is replaced, or of a new one.
mode_t usual_mode(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);  // there is no other way to ask
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

new_file::new_file(std::string path, readers who) : path_(std::move(path)), target_(behind_links(path_)) {
  if (is_device_or_pipe(path_)) {
    file_ = descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  } else {
    std::string hidden = directory_of(target_) / ".everseen.XXXXXX";
    file_ = descriptor(::mkostemp(hidden.data(), O_CLOEXEC));
    if (file_) written_ = std::move(hidden);
  }
  if (!file_) cannot("write", path_);
  if (who == readers::usual && !written_.empty() && ::fchmod(file_.get(), usual_mode(path_)) != 0)
    cannot("set the permissions of", path_);
}

new_file::~new_file() {
  if (!written_.empty()) ::unlink(written_.c_str());
}

void new_file::keep() {
  if (written_.empty()) return;
  check_disk(disk::real().sync_file(file_.get(), path_), "write", path_);
  check_disk(disk::real().rename(written_, target_), "write", path_);
  written_.clear();
  check_disk(disk::real().sync_directory(directory_of(target_)), "sync the directory of", path_);
}

input_file::input_file(const std::string& path)
    : name_(path == "-" ? "standard input" : path), number_(STDIN_FILENO) {
  if (path == "-") return;
  opened_ = descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened_) cannot("read", path);
  number_ = opened_.get();
}

bool input_file::is_terminal() const noexcept {
  return ::isatty(number_) != 0;
}

std::optional<std::uint64_t> input_file::bytes() const noexcept {
  struct stat status {};
  if (::fstat(number_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const off_t at = ::lseek(number_, 0, SEEK_CUR);
  return at < 0 || at > status.st_size ? 0 : static_cast<std::uint64_t>(status.st_size - at);
}

std::size_t input_file::read(std::span<std::byte> into) const {
  for (;;) {
    stop_if_signalled();
    const ssize_t got = ::read(number_, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) cannot("read", name_);
  }
}

}  // namespace everseen::cli
