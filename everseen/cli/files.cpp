#include "everseen/cli/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/cli/signals.hpp"
#include "everseen/core/error.hpp"

namespace everseen::cli {

namespace {

[[noreturn]] void cannot(std::string_view what, const std::string& path) {
  const int code = errno;
  throw storage_error(fmt::format("cannot {} {}: {}", what, path, std::strerror(code)), code, path);
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

new_file::new_file(std::string path)
    : path_(std::move(path)), written_(is_device_or_pipe(path_) ? "" : path_ + ".part") {
  const std::string& place = written_.empty() ? path_ : written_;
  file_ = descriptor(::open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file_) cannot("write", place);
}

new_file::~new_file() {
  if (!written_.empty()) ::unlink(written_.c_str());
}

void new_file::keep() {
  if (written_.empty()) return;
  if (::fsync(file_.get()) != 0) cannot("write", path_);
  if (::rename(written_.c_str(), path_.c_str()) != 0) cannot("write", path_);
  written_.clear();
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

std::size_t input_file::read(std::span<std::byte> into) const {
  for (;;) {
    stop_if_signalled();
    const ssize_t got = ::read(number_, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) cannot("read", name_);
  }
}

}  // namespace everseen::cli
