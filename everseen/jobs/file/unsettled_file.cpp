#include "everseen/jobs/file/unsettled_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/dedup/output.hpp"

namespace everseen {

namespace {

constexpr std::size_t digits = 20;
constexpr std::size_t longest_mark = 1000;
constexpr std::size_t longest_head = digits + 1 + longest_mark + 1;

std::string name_beside(const std::filesystem::path& file) {
  std::string name(1, '.');
  name.append(file.filename().string()).append(".unsettled");
  return (file.parent_path() / name).string();
}

std::string bytes_at(int file, std::uint64_t begin, std::size_t bytes, const std::string& path) {
  std::string text(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = ::pread(file, text.data() + done, bytes - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw disk_error("read", path, errno);
    if (got == 0) text.resize(bytes = done);
    done += static_cast<std::size_t>(got);
  }
  return text;
}

}  // namespace

unsettled_file::unsettled_file(const std::string& path, disk& on) : path_(name_beside(path)), disk_(on) {}

void unsettled_file::open(int shown) {
  descriptor file;
  do {  // the previous holder of the lock may have removed it
    file = descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file) throw disk_error("write", path_, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
      throw storage_error("another job has " + path_ + " open; give each its own file", errno, path_);
  } while (!has_its_name(file.get()));
  // What the file keeps from other users, this one keeps from them, too.
  const mode_t wanted = mode_of(shown);
  if (mode_of(file.get()) != wanted && ::fchmod(file.get(), wanted) != 0)
    throw disk_error("protect", path_, errno);
  const auto directory = std::filesystem::path(path_).parent_path();
  check_disk(disk_.sync_directory(directory), "sync", directory);
  find(file.get());
  file_ = std::move(file);
}

mode_t unsettled_file::mode_of(int file) const {
  struct stat about {};
  if (::fstat(file, &about) != 0) throw disk_error("read", path_, errno);
  return about.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
}

bool unsettled_file::has_its_name(int file) const {
  struct stat open {
  }, named{};
  if (::fstat(file, &open) != 0) throw disk_error("read", path_, errno);
  return ::stat(path_.c_str(), &named) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// A file with an incomplete head has nothing after it: it was never synced, and so never settled.
void unsettled_file::find(int file) {
  struct stat about {};
  if (::fstat(file, &about) != 0) throw disk_error("read", path_, errno);
  const std::string first = bytes_at(file, 0, longest_head, path_);
  const std::size_t end = first.find('\n');
  std::uint64_t from = 0;
  if (end == std::string::npos || end < digits) return;
  if (std::from_chars(first.data(), first.data() + digits, from).ptr != first.data() + digits) return;
  from_ = from;
  until_ = from + static_cast<std::uint64_t>(about.st_size) - (end + 1);
  mark_ = first.substr(std::min(digits + 1, end), end - std::min(digits + 1, end));
}

void unsettled_file::clear(std::uint64_t length) {
  if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
    throw disk_error("cut", path_, errno);
  from_ = until_ = length;
  mark_.clear();
}

std::string unsettled_file::head() const {
  std::string text = std::to_string(from_);
  return text.insert(0, digits - text.size(), '0') + ' ' + mark_ + '\n';
}

void unsettled_file::begin(std::string_view mark) {
  mark_ = mark;
  output(file_.get(), path_).write(head());
}

void unsettled_file::write(std::string_view text) {
  output(file_.get(), path_).write(text);
  until_ += text.size();
}

void unsettled_file::sync() const {
  check_disk(disk_.sync_file(file_.get(), path_), "sync", path_);
}

std::string unsettled_file::read(std::uint64_t begin, std::size_t bytes) const {
  std::string text = bytes_at(file_.get(), head().size() + (begin - from_), bytes, path_);
  if (text.size() != bytes) throw disk_error("read", path_, EIO);
  return text;
}

void unsettled_file::must_be_as_begun() const {
  const std::string begun = head();
  if (bytes_at(file_.get(), 0, begun.size(), path_) == begun) return;
  throw storage_error(path_ + " is not as this job has written it: another program writes to it", EIO, path_);
}

void unsettled_file::remove() noexcept {
  if (!file_) return;
  // The lock goes last, so that no other job opens a file that is about to lose its name unnoticed.
  ::unlink(path_.c_str());
  file_ = {};
}

}  // namespace everseen
