#include "everseen/stream/file_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

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

constexpr std::size_t copied_at_once = std::size_t{1} << 20;

/// The path without links, also of a file that is not there yet.
std::string whole(const std::filesystem::path& given) {
  std::error_code code;
  if (std::filesystem::exists(given, code)) return std::filesystem::canonical(given).string();
  const auto directory =
      std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", code);
  if (code) throw disk_error("write", given.string(), code.value());
  return (directory / given.filename()).string();
}

}  // namespace

file_sink::file_sink(const std::string& path) : path_(whole(path)), unsettled_(path_) {
  if (std::filesystem::exists(path_)) open(0);
}

/// What is left is not settled, or the answer to that was lost; then whoever begins again needs it.
file_sink::~file_sink() {
  if (begun_ && length_ == shown_) unsettled_.remove();
}

void file_sink::open(int more_flags) {
  file_ = descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0666));
  if (!file_) throw disk_error("write", path_, errno);
  struct stat about {};
  if (::fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode))
    throw parameter_error(
        path_ + " is no regular file, so nothing can be taken back from it; give - and pipe it there");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw storage_error("another job writes to " + path_ + "; give each its own file", errno, path_);
  struct stat now {};  // whoever had the lock may have written
  if (::fstat(file_.get(), &now) != 0) throw disk_error("read", path_, errno);
  shown_ = length_ = static_cast<std::uint64_t>(now.st_size);
}

void file_sink::begin(std::string_view note) {
  if (note.empty()) {
    if (!file_) open(O_CREAT);
    const auto directory = std::filesystem::path(path_).parent_path();
    check_disk(disk::real().sync_directory(directory), "sync", directory);
  } else {
    if (!file_)
      throw parameter_error(path_ + " is not there, and this job has written " +
                            std::to_string(length_in(note)) +
                            " bytes to it; put it back, or give --move-output to begin a new one with what "
                            "comes next");
    unsettled_.find();
    show_settled(note);
    unsettled_.remove();
  }
  length_ = shown_;
  tail_ = tail_before(length_);
  begun_ = true;
}

std::uint64_t file_sink::length_in(std::string_view note) const {
  std::uint64_t length = 0;
  const std::size_t blank = note.find(' ');
  const auto [end, bad] = std::from_chars(note.data(), note.data() + std::min(blank, note.size()), length);
  if (bad != std::errc{} || blank == std::string_view::npos || end != note.data() + blank)
    throw format_error("the checkpoint of " + path_ +
                       " is damaged; give --move-output to begin another file");
  return length;
}

/// Appends what the ledger says is settled and is not in the file yet. What somebody else has appended since
/// stays.
void file_sink::show_settled(std::string_view note) {
  const std::uint64_t found = shown_;
  const std::uint64_t settled = length_in(note);
  const std::string written = std::to_string(settled) + " bytes to it";
  if (found < settled && (unsettled_.from() > found || unsettled_.to() < settled))
    throw parameter_error(
        path_ + " has " + std::to_string(found) + " bytes, and this job has written " + written +
        "; put back what it was, or give --to another file and --move-output for what comes next");
  if (found < settled) append_up_to(settled);
  if (fingerprint(tail_before(settled)) == note.substr(note.find(' ') + 1)) return;
  if (found < settled && ::ftruncate(file_.get(), static_cast<off_t>(found)) != 0)
    throw disk_error("cut", path_, errno);
  throw parameter_error(path_ + " is not the file that this job wrote: it has written " + written +
                        ", and other ones stand there; put that file back, or give --to another one and "
                        "--move-output for what comes next; workers that share a path have a --worker each");
}

std::string file_sink::tail_before(std::uint64_t length) const {
  std::string tail(std::min<std::uint64_t>(length, max_fingerprinted), '\0');
  const ssize_t got =
      ::pread(file_.get(), tail.data(), tail.size(), static_cast<off_t>(length - tail.size()));
  if (got != static_cast<ssize_t>(tail.size())) throw disk_error("read", path_, errno);
  return tail;
}

void file_sink::put(const judged_batch& batch) {
  piece kept{batch.from.lane, {}};
  text_.clear();
  for (std::size_t i = 0; i < batch.verdicts.size(); ++i) {
    if (!batch.goes_out(i)) continue;
    (text_ += batch.from.records[i].bytes) += '\n';
    kept.records.push_back({batch.from.records[i].position, length_ + text_.size()});
  }
  if (text_.empty()) return;
  if (length_ == shown_) unsettled_.begin(length_);
  put_.push_back(std::move(kept));
  write_unsettled(text_);
}

void file_sink::write_unsettled(std::string_view text) {
  unsettled_.write(text.substr(0, text.size() / 2));
  fault_point("half_put");
  unsettled_.write(text.substr(text.size() / 2));
  length_ += text.size();
  tail_ += text.substr(text.size() - std::min(text.size(), max_fingerprinted));
  if (tail_.size() > max_fingerprinted) tail_.erase(0, tail_.size() - max_fingerprinted);
}

std::string file_sink::commit(std::span<const checkpoint> /*reached*/) {
  if (length_ != shown_) unsettled_.sync();
  return std::to_string(length_) + ' ' + fingerprint(tail_);
}

void file_sink::settled() {
  if (length_ != shown_) append_up_to(length_);
  put_.clear();
}

/// It is on the disk before what was not settled is written over.
void file_sink::append_up_to(std::uint64_t length) {
  if (::lseek(file_.get(), static_cast<off_t>(shown_), SEEK_SET) < 0) throw disk_error("write", path_, errno);
  output out(file_.get(), path_);
  for (std::uint64_t left = length - shown_; left > 0; left = length - shown_) {
    const std::string text = unsettled_.read(shown_, std::min<std::uint64_t>(left, copied_at_once));
    out.write(std::string_view(text).substr(0, text.size() / 2));
    fault_point("half_shown");
    out.write(std::string_view(text).substr(text.size() / 2));
    shown_ += text.size();
  }
  check_disk(disk::real().sync_file(file_.get(), path_), "sync", path_);
}

void file_sink::leave_settled(std::string_view note,
                              const std::map<std::string, checkpoint, std::less<>>& reached) {
  show_settled(note);
  const std::uint64_t begin = shown_;
  const std::string rest = length_ > begin ? unsettled_.read(begin, length_ - begin) : std::string();
  const std::vector<piece> all = std::exchange(put_, {});
  length_ = begin;
  tail_ = tail_before(begin);
  unsettled_.begin(begin);
  std::uint64_t from = 0;  // of a record, in `rest`
  for (const piece& each : all) {
    const auto known = reached.find(each.lane);
    piece kept{each.lane, {}};
    text_.clear();
    for (const auto& [position, end] : each.records) {
      if (end <= begin) continue;
      if (known == reached.end() || position >= known->second.position) {
        text_ += std::string_view(rest).substr(from, end - begin - from);
        kept.records.push_back({position, length_ + text_.size()});
      }
      from = end - begin;
    }
    if (text_.empty()) continue;
    put_.push_back(std::move(kept));
    write_unsettled(text_);
  }
}

void output_sink::put(const judged_batch& batch) {
  text_.clear();
  for (std::size_t i = 0; i < batch.verdicts.size(); ++i)
    if (batch.goes_out(i)) (text_ += batch.from.records[i].bytes) += '\n';
  if (!text_.empty()) out_.write(text_);
}

}  // namespace everseen
