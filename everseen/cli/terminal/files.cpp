#include "everseen/cli/terminal/files.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/stream/port/fault_point.hpp"

namespace everseen::cli {

namespace {

[[noreturn]] void cannot(const char* what, const std::string& path) {
  throw disk_error(what, path, errno);
}

/// Whether there is a file that no other can take the place of: a device, a pipe, or one without a name, as
/// what /dev/stdout refers to may be.
bool is_written_in_place(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
  std::error_code has_no_name;
  return !S_ISREG(status.st_mode) ||
         !std::filesystem::equivalent(path, std::filesystem::canonical(path, has_no_name), has_no_name);
}

/// The file that a link refers to, if it exists: the link must not be replaced.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code there_is_none;
  std::filesystem::path found = std::filesystem::canonical(path, there_is_none);
  return there_is_none ? path : found;
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Digits and a line end. The mark of a continued file is overwritten in place, so it is always as long.
constexpr std::size_t bytes_of_mark = 21;

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
  if (is_written_in_place(path_)) {
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

bool continued_file::is_possible(const std::string& path) {
  return !is_written_in_place(path);
}

continued_file::continued_file(std::string path, std::string_view writer)
    : path_(std::move(path)), target_(behind_links(path_)) {
  hidden_ = directory_of(target_) / fmt::format(".{}.{:016x}", target_.filename().string(),
                                                checksum(std::as_bytes(std::span(writer))));
  mark_path_ = hidden_.string() + ".settled";
  // The mark comes first and leaves last. Bytes without a mark were never settled; a mark without bytes is of
  // a run that was killed when it had kept its file.
  if (!std::filesystem::exists(hidden_)) ::unlink(mark_path_.c_str());
  mark_ = descriptor(::open(mark_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!mark_) cannot("write", path_);
  settled_ = read_mark();
  file_ = descriptor(::open(hidden_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, usual_mode(path_)));
  if (!file_) cannot("write", path_);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) cannot("read", hidden_);
  if (static_cast<std::uint64_t>(status.st_size) < settled_)
    throw storage_error(fmt::format("{}, the beginning of {}, has {} bytes, and had {}: remove it to begin "
                                    "again without the lines that are lost",
                                    hidden_.string(), path_, status.st_size, settled_),
                        EIO, hidden_);
  if (::ftruncate(file_.get(), static_cast<off_t>(settled_)) != 0 || ::lseek(file_.get(), 0, SEEK_END) < 0 ||
      ::fchmod(file_.get(), usual_mode(path_)) != 0)
    cannot("write", hidden_);
  check_disk(disk::real().sync_directory(directory_of(target_)), "sync the directory of", path_);
}

continued_file::~continued_file() {
  if (is_kept_ || settled_ > 0) return;
  if (file_) ::unlink(hidden_.c_str());
  if (mark_) ::unlink(mark_path_.c_str());
}

std::uint64_t continued_file::read_mark() const {
  std::string text(bytes_of_mark, '\0');
  if (::pread(mark_.get(), text.data(), text.size(), 0) < 0) cannot("read", mark_path_);
  if (text.front() == '\0') return 0;  // nothing was settled yet
  std::uint64_t bytes = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (fault != std::errc{} || end != &text.back() || *end != '\n')
    throw storage_error(
        mark_path_.string() +
            " is damaged: remove it to begin again without the lines that an earlier run wrote",
        EIO, mark_path_);
  return bytes;
}

void continued_file::settle() {
  const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
  if (end < 0) cannot("write", hidden_);
  check_disk(disk::real().sync_file(file_.get(), hidden_), "write", path_);
  const std::string mark = fmt::format("{:0{}}\n", end, bytes_of_mark - 1);
  check_disk(disk::real().write(mark_.get(), 0, std::as_bytes(std::span(mark)), mark_path_), "write", path_);
  check_disk(disk::real().sync_file(mark_.get(), mark_path_), "write", path_);
  settled_ = static_cast<std::uint64_t>(end);
}

void continued_file::keep() {
  check_disk(disk::real().sync_file(file_.get(), hidden_), "write", path_);
  check_disk(disk::real().rename(hidden_, target_), "write", path_);
  is_kept_ = true;
  fault_point("kept");
  check_disk(disk::real().sync_directory(directory_of(target_)), "sync the directory of", path_);
  ::unlink(mark_path_.c_str());
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
