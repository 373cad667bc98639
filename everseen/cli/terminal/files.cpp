#include "everseen/cli/terminal/files.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

namespace {

[[noreturn]] void cannot(const char* subject, const std::string& path) {
  throw disk_error(subject, path, errno);
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// The last of a chain of links for which `is_last` holds, or the file that the chain refers to, even if it
/// does not exist.
template <typename IsLast>
std::filesystem::path follow_links(std::filesystem::path path, IsLast is_last) {
  std::error_code fault;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, fault) && !is_last(path); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, fault);
    if (fault) break;
    path = directory_of(path) / next;
  }
  return path;
}

/// The number of the open file of this process that a path names.
std::optional<int> open_number(const std::string& path) {
  std::error_code fault;
  const std::filesystem::path descriptors = std::filesystem::canonical("/proc/self/fd", fault);
  if (fault) return std::nullopt;
  const auto is_one = [&](const std::filesystem::path& link) {
    return std::filesystem::canonical(directory_of(link), fault) == descriptors;
  };
  const std::filesystem::path last = follow_links(path, is_one);
  if (!std::filesystem::is_symlink(last, fault) || !is_one(last)) return std::nullopt;
  const std::string name = last.filename();
  int number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Whether there is a file that no other can take the place of: an open one of this process, a device, a
/// pipe, or one without a name, as what /proc/1234/fd/1 refers to may be.
bool is_written_in_place(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
  std::error_code has_no_name;
  return !S_ISREG(status.st_mode) || open_number(path) ||
         !std::filesystem::equivalent(path, std::filesystem::canonical(path, has_no_name), has_no_name);
}

/// The file that a link refers to, even if it does not exist: the link must not be replaced, and what a run
/// left is found beside the file.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  const std::filesystem::path file = follow_links(path, [](const auto&) { return false; });
  std::error_code fault;
  const std::filesystem::path directory = std::filesystem::canonical(directory_of(file), fault);
  return fault ? file : directory / file.filename();
}

void must_not_be_directory(const std::string& path) {
  std::error_code there_is_none;
  if (std::filesystem::is_directory(path, there_is_none)) throw disk_error("write", path, EISDIR);
}

/// The first line of the mark of a continued file.
constexpr std::size_t bytes_of_mark = 21;
constexpr std::size_t most_bytes_of_writer = 64 << 10;

/// The permissions and the owner of a file that is replaced, or of a new one.
struct file_rights {
  mode_t mode = 0666;
  std::optional<struct stat> before{};

  explicit file_rights(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0) {
      before = status;
      mode = status.st_mode & 07777;
      return;
    }
    const mode_t mask = ::umask(0);  // there is no other way to ask
    ::umask(mask);
    mode &= ~mask;
  }

  /// @return false  the permissions cannot be set
  [[nodiscard]] bool give_to(int file) const noexcept {
    mode_t given = mode;
    if (before && ::fchown(file, before->st_uid, before->st_gid) != 0) {
      given &= 0777;  // of another owner, a program must not run with the rights of this one
      (void)!::fchown(file, static_cast<uid_t>(-1), before->st_gid);
    }
    return ::fchmod(file, given) == 0;
  }
};

}  // namespace

std::optional<descriptor> open_already(const std::string& path) {
  const auto number = open_number(path);
  if (!number) return std::nullopt;
  descriptor same(::fcntl(*number, F_DUPFD_CLOEXEC, 0));
  if (!same) cannot("write", path);
  return same;
}

new_file::new_file(std::string path, readers who) : path_(std::move(path)), target_(behind_links(path_)) {
  must_not_be_directory(path_);
  if (auto same = open_already(path_)) {
    file_ = *std::move(same);
  } else if (is_written_in_place(path_)) {
    file_ = descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  } else {
    std::string hidden = directory_of(target_) / ".everseen.XXXXXX";
    file_ = descriptor(::mkostemp(hidden.data(), O_CLOEXEC));
    if (file_) written_ = std::move(hidden);
  }
  if (!file_) cannot("write", path_);
  if (who == readers::usual && !written_.empty() && !file_rights(target_).give_to(file_.get()))
    cannot("set the permissions of", path_);
}

new_file::~new_file() {
  if (!written_.empty()) ::unlink(written_.c_str());
}

void new_file::publish() {
  if (written_.empty()) return;
  check_disk(disk::real().sync_file(file_.get(), path_), "write", path_);
  check_disk(disk::real().rename(written_, target_), "write", path_);
  written_.clear();
  check_disk(disk::real().sync_directory(directory_of(target_)), "sync the directory of", path_);
}

bool continued_file::is_possible(const std::string& path) {
  return !is_written_in_place(path);
}

continued_file::continued_file(std::string path, std::string writer)
    : path_(std::move(path)), writer_(std::move(writer)), target_(behind_links(path_)) {
  must_not_be_directory(path_);
  hidden_ = directory_of(target_) / fmt::format(".{}.unfinished", target_.filename().string());
  mark_path_ = hidden_.string() + ".mark";
  lock_mark();
  read_mark();
  if (settled_ > 0) take_back();
  open_hidden();
  check_disk(disk::real().sync_directory(directory_of(target_)), "sync the directory of", path_);
}

continued_file::~continued_file() {
  if (!file_ || (settled_ > 0 && !has_ended_)) return;
  if (!has_ended_) ::unlink(hidden_.c_str());
  ::unlink(mark_path_.c_str());  // while it is locked
  (void)disk::real().sync_directory(directory_of(target_));
}

void continued_file::lock_mark() {
  lock_ = lock_file::try_take(mark_path_);
  if (!lock_)
    throw storage_error(fmt::format("{} is being written by {}; wait for its end, or give another file",
                                    path_, lock_file::holder_of(mark_path_)),
                        EWOULDBLOCK, path_);
  mark_ = descriptor(::open(mark_path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!mark_) cannot("write", mark_path_);
}

/// The number of settled bytes, of always as many digits, as it is overwritten in place; and the writer.
void continued_file::read_mark() {
  std::string text(bytes_of_mark + most_bytes_of_writer, '\0');
  const ssize_t got = ::pread(mark_.get(), text.data(), text.size(), 0);
  if (got < 0) cannot("read", mark_path_);
  text.resize(static_cast<std::size_t>(got));
  if (text.find_first_not_of('\0') == std::string::npos)
    return;  // new, or of a power loss before the first line
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), settled_);
  if (fault != std::errc{} || end != text.data() + bytes_of_mark - 1 || *end != '\n' || text.back() != '\n')
    throw storage_error(
        fmt::format("{} is damaged: remove it, and {}, whose lines a run may have written that did "
                    "not end",
                    mark_path_.string(), hidden_.string()),
        EIO, mark_path_);
  const std::string_view before =
      std::string_view(text).substr(bytes_of_mark, text.size() - bytes_of_mark - 1);
  if (!is_left()) lost_ = std::exchange(settled_, 0);
  if (before != writer_) lost_ = 0;  // no loss of this one
  if (settled_ == 0 && ::ftruncate(mark_.get(), 0) != 0) cannot("write", mark_path_);
  if (settled_ == 0 || before == writer_) return;
  throw storage_error(
      fmt::format("{} was begun with {}, by a run that did not end, and this one has {}: end it with the "
                  "former, or remove {} and {}, which have its lines",
                  path_, before, writer_, mark_path_.string(), hidden_.string()),
      EEXIST, path_);
}

/// A run that was killed after publish() and before end() is not over: without its lines, the next one would
/// replace them by none, as their keys are in the filter. If the file has another length, it is not that one.
bool continued_file::is_left() const {
  std::error_code there_is_none;
  return std::filesystem::exists(hidden_, there_is_none) ||
         (std::filesystem::file_size(target_, there_is_none) == settled_ && !there_is_none);
}

void continued_file::take_back() {
  std::error_code there_is_none;
  if (std::filesystem::exists(hidden_, there_is_none)) return;
  check_disk(disk::real().rename(target_, hidden_), "write", hidden_);
}

void continued_file::open_hidden() {
  std::error_code there_is_none;
  const file_rights rights(std::filesystem::exists(target_, there_is_none) ? target_ : hidden_);
  file_ = descriptor(::open(hidden_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, rights.mode & 0600));
  if (!file_) cannot("write", path_);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) cannot("read", hidden_);
  if (static_cast<std::uint64_t>(status.st_size) < settled_)
    throw storage_error(
        fmt::format("{}, the beginning of {}, has {} bytes, and had {}: remove it and {} to begin "
                    "again without the lines that are lost",
                    hidden_.string(), path_, status.st_size, settled_, mark_path_.string()),
        EIO, hidden_);
  if (::ftruncate(file_.get(), static_cast<off_t>(settled_)) != 0 || ::lseek(file_.get(), 0, SEEK_END) < 0 ||
      !rights.give_to(file_.get()))
    cannot("write", hidden_);
}

void continued_file::settle() {
  const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
  if (end < 0) cannot("write", hidden_);
  check_disk(disk::real().sync_file(file_.get(), hidden_), "write", path_);
  const std::string mark = fmt::format("{:0{}}\n{}\n", end, bytes_of_mark - 1, writer_);
  check_disk(disk::real().write(mark_.get(), 0, std::as_bytes(std::span(mark)), mark_path_), "write", path_);
  check_disk(disk::real().sync_file(mark_.get(), mark_path_), "write", path_);
  settled_ = static_cast<std::uint64_t>(end);
}

void continued_file::publish() {
  settle();
  check_disk(disk::real().rename(hidden_, target_), "write", path_);
  fault_point("kept");
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
  const off_t offset = ::lseek(number_, 0, SEEK_CUR);
  return offset < 0 || offset > status.st_size ? 0 : static_cast<std::uint64_t>(status.st_size - offset);
}

std::size_t input_file::read(std::span<std::byte> into) const {
  for (;;) {
    stop_if_signalled();
    const ssize_t got = ::read(number_, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) cannot("read", name_);
  }
}

stats_file::stats_file(const std::string& where) {
  if (where == "-") return;
  name_ = where;
  if (auto same = open_already(where)) {
    file_ = *std::move(same);
    return;
  }
  file_ = descriptor(::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_) throw storage_error("cannot write " + where + ": " + std::strerror(errno), errno, where);
}

void stats_file::write(std::string_view text) const {
  output(file_ ? file_.get() : STDERR_FILENO, name_).write(text);
}

}  // namespace everseen::cli
