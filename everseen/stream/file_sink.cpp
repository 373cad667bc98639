#include "everseen/stream/file_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/error.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/stream/fault_point.hpp"
#include "everseen/stream/fingerprint.hpp"

namespace everseen {

namespace {

void gather(const judged_batch& batch, std::string& text) {
  text.clear();
  for (std::size_t i = 0; i < batch.verdicts.size(); ++i)
    if (batch.goes_out(i)) (text += batch.from.records[i].bytes) += '\n';
}

/// In two pieces, so that a test can make the process die between them.
void write_all(int to, const std::string& name, std::string_view text) {
  output out(to, name);
  out.write(text.substr(0, text.size() / 2));
  fault_point("half_put");
  out.write(text.substr(text.size() / 2));
}

}  // namespace

file_sink::file_sink(const std::string& path) : path_(path) {
  const std::filesystem::path given(path);
  std::error_code code;
  auto directory = std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", code);
  if (code) throw disk_error("write", path, code.value());
  if (std::filesystem::exists(given))
    open(0);
  else
    path_ = (directory / given.filename()).string();
}

void file_sink::open(int more_flags) {
  file_ = descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0666));
  if (!file_) throw disk_error("write", path_, errno);
  struct stat about {};
  if (::fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode))
    throw parameter_error(
        path_ + " is no regular file, so nothing can be taken back from it; give - and pipe it there");
  path_ = std::filesystem::canonical(path_).string();
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw storage_error("another job writes to " + path_ + "; give each its own file", errno, path_);
  length_ = static_cast<std::uint64_t>(about.st_size);
}

void file_sink::begin(std::string_view note) {
  if (!note.empty()) {
    go_back_to(note);
  } else {
    if (!file_) open(O_CREAT);
    const auto directory = std::filesystem::path(path_).parent_path();
    check_disk(disk::real().sync_directory(directory), "sync", directory);
    read_tail();
  }
  if (::lseek(file_.get(), static_cast<off_t>(length_), SEEK_SET) < 0)
    throw disk_error("write", path_, errno);
}

void file_sink::go_back_to(std::string_view note) {
  const std::uint64_t found = length_;
  const std::size_t blank = note.find(' ');
  const auto [end, bad] = std::from_chars(note.data(), note.data() + std::min(blank, note.size()), length_);
  if (bad != std::errc{} || blank == std::string_view::npos || end != note.data() + blank)
    throw format_error("the checkpoint of " + path_ +
                       " is damaged; give --move-output to begin another file");
  const std::string written = std::to_string(length_) + " bytes to it";
  if (!file_)
    throw parameter_error(path_ + " is not there, and this job has written " + written +
                          "; put it back, or give --move-output to begin a new one with what comes next");
  if (found < length_)
    throw parameter_error(
        path_ + " has " + std::to_string(found) + " bytes, and this job has written " + written +
        "; put back what it was, or give --to another file and --move-output for what comes next");
  read_tail();
  if (fingerprint(tail_) != note.substr(blank + 1))
    throw parameter_error(
        path_ + " is not the file that this job wrote: it has written " + written +
        ", and other ones stand there; put that file back, or give --to another one and "
        "--move-output for what comes next; workers that share a path have a --worker each");
  if (::ftruncate(file_.get(), static_cast<off_t>(length_)) != 0) throw disk_error("cut", path_, errno);
}

void file_sink::read_tail() {
  tail_.resize(std::min<std::uint64_t>(length_, max_fingerprinted));
  const auto from = static_cast<off_t>(length_ - tail_.size());
  const ssize_t got = ::pread(file_.get(), tail_.data(), tail_.size(), from);
  if (got != static_cast<ssize_t>(tail_.size())) throw disk_error("read", path_, errno);
}

void file_sink::put(const judged_batch& batch) {
  gather(batch, text_);
  if (text_.empty()) return;
  write_all(file_.get(), path_, text_);
  length_ += text_.size();
  tail_ += std::string_view(text_).substr(text_.size() - std::min(text_.size(), max_fingerprinted));
  if (tail_.size() > max_fingerprinted) tail_.erase(0, tail_.size() - max_fingerprinted);
}

std::string file_sink::commit(std::span<const checkpoint> /*reached*/) {
  check_disk(disk::real().sync_file(file_.get(), path_), "sync", path_);
  return std::to_string(length_) + ' ' + fingerprint(tail_);
}

void output_sink::put(const judged_batch& batch) {
  gather(batch, text_);
  if (!text_.empty()) out_.write(text_);
}

}  // namespace everseen
