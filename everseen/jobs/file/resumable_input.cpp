#include "everseen/jobs/file/resumable_input.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/file/file_source.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

namespace {

constexpr std::size_t max_first_bytes = std::size_t{1} << 20;
/// How long to wait for a first line before `idle` is called.
constexpr std::chrono::milliseconds tail_wait{20};

}  // namespace

resumable_input::resumable_input(const std::string& path, bool decompress)
    : name_(path), examines_(decompress) {
  if (path != "-") {
    opened_ = descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened_) throw disk_error("read", path, errno);
    number_ = opened_.get();
    std::error_code ignored;
    name_ = std::filesystem::canonical(path, ignored).string();
    if (ignored) name_ = path;
  }
  struct stat about {};
  if (::fstat(number_, &about) != 0) throw disk_error("read", path, errno);
  if (S_ISDIR(about.st_mode)) throw disk_error("read", path, EISDIR);
  file_ = opened_ && S_ISREG(about.st_mode);
  if (S_ISREG(about.st_mode)) examine();
}

void resumable_input::examine() {
  if (!std::exchange(examines_, false)) return;
  decompressed_ = decompression::of(number_, name_ == "-" ? "standard input" : name_);
  if (!decompressed_) return;
  number_ = decompressed_->number();
  file_ = false;
}

std::optional<std::string> resumable_input::take_first(record_format format, bool follows,
                                                       const std::function<void()>& idle) {
  std::string record;
  bool between_quotes = false;
  while (const auto byte = next_byte(follows, idle)) {  // byte by byte, as a pipe takes nothing back
    before_ = byte;
    if (byte == format.separator && !between_quotes) break;
    between_quotes = between_quotes != (format.quoted && byte == '"');
    record += *byte;
    if (record.size() > max_first_bytes)
      throw format_error("the first line of " + name_ + " has more than 1 MiB: it does not name fields");
  }
  if (!record.empty() && before_ != format.separator)
    throw format_error("the first line of " + name_ +
                       " has no end, so it may be a piece of the one that names the fields; if it is being "
                       "written, give --follow, which waits for the rest");
  taken_ = read_to_;
  if (!before_) return std::nullopt;
  return record;
}

/// @return nothing  the input has ended, and more is not expected
std::optional<char> resumable_input::next_byte(bool follows, const std::function<void()>& idle) {
  for (char byte = 0;; idle()) {
    if (!readable_within(tail_wait)) continue;
    if (read({&byte, 1}) == 1) return byte;
    if (!follows) return std::nullopt;
    static_cast<void>(has_its_name());       // throws if the file was truncated
    std::this_thread::sleep_for(tail_wait);  // a file at its end is always readable
  }
}

// A file is continued where it was settled, if it begins as it did then. A pipe is read from its beginning,
// and compared once its settled bytes have passed.
void resumable_input::begin(std::uint64_t position, std::string_view note) {
  settled_ = position;
  expected_ = note;
  if (position <= taken_) return;
  if (!file_) {
    skip_ = position - taken_;
    return;
  }
  if (bytes().value_or(0) < position)
    throw parameter_error(name_ + " is shorter than the " + settled_text() +
                          "; was it truncated or replaced? Begin another job for another file");
  beginning_.resize(fingerprinted_bytes(expected_, name_));
  const ssize_t got = ::pread(number_, beginning_.data(), beginning_.size(), 0);
  beginning_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  compare();
  char before = 0;
  if (::pread(number_, &before, 1, static_cast<off_t>(position - 1)) != 1 ||
      ::lseek(number_, static_cast<off_t>(position), SEEK_SET) < 0)
    throw disk_error("read", name_, errno);
  before_ = before;
  read_to_ = position;
}

std::size_t resumable_input::read(std::span<char> into) {
  examine();
  ssize_t got = -1;
  do got = ::read(number_, into.data(), into.size());
  while (got < 0 && errno == EINTR);
  if (got < 0 && errno != EAGAIN) throw disk_error("read", name_, errno);
  if (got == 0 && decompressed_) decompressed_->must_be_whole(read_to_);
  const auto count = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  remember({into.data(), count});
  return count;
}

void resumable_input::skip_some() {
  std::array<char, 65536> bytes;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
  const std::size_t count = read({bytes.data(), wanted});
  if (count == 0)
    throw parameter_error("the input ends before the " + settled_text() +
                          "; give the job the same input again, from its beginning");
  skip_ -= count;
  before_ = bytes[count - 1];
  if (skip_ == 0) compare();
}

bool resumable_input::readable_within(std::chrono::milliseconds wait) const noexcept {
  pollfd readable = {number_, POLLIN, 0};
  return ::poll(&readable, 1, static_cast<int>(wait.count())) > 0;  // a signal makes nothing readable
}

bool resumable_input::has_its_name() const {
  if (!file_) return true;
  if (bytes().value_or(0) < read_to_ || !begins_as_before())
    throw storage_error(
        name_ + " was truncated while it was followed; begin another --job for its new content", 0, name_);
  struct stat opened {};
  struct stat named {};
  ::fstat(number_, &opened);
  return ::stat(name_.c_str(), &named) != 0 ||
         (named.st_ino == opened.st_ino && named.st_dev == opened.st_dev);
}

/// A file may have been truncated and then grown past the bytes that were read.
bool resumable_input::begins_as_before() const {
  std::array<char, max_fingerprinted> current;
  const std::scoped_lock alone(lock_);
  const ssize_t got = ::pread(number_, current.data(), beginning_.size(), 0);
  return got == static_cast<ssize_t>(beginning_.size()) &&
         std::string_view(current.data(), beginning_.size()) == beginning_;
}

void resumable_input::must_be(std::string_view note) const {
  const std::scoped_lock alone(lock_);
  const std::size_t count = fingerprinted_bytes(note, name_);
  if (count <= beginning_.size() && fingerprint(std::string_view(beginning_).substr(0, count)) != note)
    throw parameter_error("another worker of this job reads another input named " + name_ +
                          "; give each its own --worker, or its own --job");
}

std::optional<std::uint64_t> resumable_input::count_before(std::uint64_t position, char byte) const {
  if (!file_) return std::nullopt;
  std::vector<char> bytes(std::size_t{1} << 16);
  std::uint64_t count = 0;
  for (std::uint64_t offset = 0; offset < position;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), position - offset));
    const ssize_t got = ::pread(number_, bytes.data(), wanted, static_cast<off_t>(offset));
    if (got <= 0) return std::nullopt;
    count += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.begin() + got, byte));
    offset += static_cast<std::uint64_t>(got);
  }
  return count;
}

std::string resumable_input::note_at(std::uint64_t position) const {
  const std::scoped_lock alone(lock_);
  return fingerprint(
      std::string_view(beginning_).substr(0, std::min<std::uint64_t>(position, max_fingerprinted)));
}

std::optional<std::uint64_t> resumable_input::bytes() const noexcept {
  struct stat about {};
  if (!file_ || ::fstat(number_, &about) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(about.st_size);
}

void resumable_input::remember(std::string_view bytes) {
  const std::scoped_lock alone(lock_);
  if (beginning_.size() == read_to_) beginning_ += bytes.substr(0, max_fingerprinted - beginning_.size());
  read_to_ += bytes.size();
}

void resumable_input::compare() const {
  const std::size_t count = fingerprinted_bytes(expected_, name_);
  if (fingerprint(std::string_view(beginning_).substr(0, count)) != expected_)
    throw parameter_error(
        (file_ ? name_ + " does not begin like the file that this job has read"
               : std::string("standard input does not begin like the input that this job has read")) +
        "; begin another job for another input");
}

std::string resumable_input::settled_text() const {
  return std::to_string(settled_) + " bytes that this job has settled";
}

}  // namespace everseen
