#include "everseen/jobs/file/file_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/dedup/output.hpp"
#include "everseen/jobs/file/file_source.hpp"

namespace everseen {

namespace {

constexpr std::size_t copied_at_once = std::size_t{1} << 20;

/// The path without symbolic links, also of a file that does not exist yet.
std::string whole(const std::filesystem::path& given) {
  std::error_code code;
  if (std::filesystem::exists(given, code)) {
    const auto found = std::filesystem::canonical(given, code);
    return code ? given.string() : found.string();  // a pipe has no name: open() reports it
  }
  const auto directory =
      std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", code);
  if (code) throw disk_error("write", given.string(), code.value());
  return (directory / given.filename()).string();
}

}  // namespace

file_sink::file_sink(const std::string& path, mark owner, disk& on)
    : path_(whole(path)), mark_(std::move(owner)), disk_(on), unsettled_(path_, on) {
  if (std::filesystem::exists(path_)) open(0);
}

/// Lines that are left are not settled, or not known to be on the disk: the next run needs them.
file_sink::~file_sink() {
  if (unsettled_.is_empty()) unsettled_.remove();
}

void file_sink::open(int more_flags) {
  file_ = descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0666));
  if (!file_) throw disk_error("write", path_, errno);
  struct stat about {};
  if (::fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode))
    throw parameter_error(
        path_ +
        " is not a regular file, so nothing can be taken back from it; give - and pipe the output there");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw storage_error("another job writes to " + path_ + "; give each its own file", errno, path_);
  struct stat status {};  // another process may have written before it released the lock
  if (::fstat(file_.get(), &status) != 0) throw disk_error("read", path_, errno);
  shown_ = static_cast<std::uint64_t>(status.st_size);
}

/// Makes an unwritable directory or too long a name fail before anything is claimed.
void file_sink::begin(std::string_view note) {
  if (!file_ && !note.empty())
    throw parameter_error(path_ + " does not exist, and this job has written " +
                          std::to_string(length_in(note)) +
                          " bytes to it; put it back, or give --move-output to begin a new one with what "
                          "comes next");
  if (!file_) open(O_CREAT);
  if (note.empty() && first_) write_first();
  unsettled_.open(file_.get());
  if (note.empty() || unsettled_.mark() != mark_line()) must_have_all_of_others();
  if (!note.empty()) show_settled(note);
  forget_shown();
}

/// A run that crashed here may have written a part of the line.
void file_sink::write_first() {
  const std::string line = *first_ + separator_;
  if (shown_ >= line.size() || read(0, shown_) != line.substr(0, shown_)) return;
  if (::lseek(file_.get(), static_cast<off_t>(shown_), SEEK_SET) < 0) throw disk_error("write", path_, errno);
  output(file_.get(), path_).write(std::string_view(line).substr(shown_));
  shown_ = line.size();
}

/// Without a note, this job cannot know which of these lines are settled.
void file_sink::must_have_all_of_others() {
  if (unsettled_.to() > shown_ || first_difference(unsettled_.to()) < unsettled_.to())
    throw parameter_error(
        unsettled_.path() + " has lines that the job " + unsettled_.mark() + " has put out to " + path_ +
        "; they may be settled, and are not in it. Put back the file that it wrote and start that job "
        "again to append them; if the job was ended, append the lines that you want by hand, and "
        "remove " +
        unsettled_.path());
  forget_shown();
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

/// Appends what is settled, according to the ledger, and not in the file yet. What others appended in the
/// meantime stays.
void file_sink::show_settled(std::string_view note) {
  const std::uint64_t settled = length_in(note);
  const std::string written = std::to_string(settled) + " bytes to it";
  if (shown_ < settled && (unsettled_.from() > shown_ || unsettled_.to() < settled))
    throw parameter_error(path_ + " has " + std::to_string(shown_) + " bytes, and this job has written " +
                          written +
                          "; restore the file, or give --to another file and --move-output for later events");
  must_go_on_as_unsettled(settled);
  if (fingerprint(tail_before(settled)) != note.substr(note.find(' ') + 1))
    throw parameter_error(path_ + " is not the file that this job wrote: it has written " + written +
                          ", and it has other bytes there; put that file back, or give --to another one and "
                          "--move-output for later events; workers that share a path need a --worker each");
  append_up_to(settled);
}

/// If a run crashed while it appended settled lines, others may have appended after the part that it wrote.
void file_sink::must_go_on_as_unsettled(std::uint64_t end) const {
  const std::uint64_t both = std::min({end, shown_, unsettled_.to()});
  const std::uint64_t same = first_difference(both);
  if (same >= both) return;
  throw parameter_error(path_ + " has other bytes after its first " + std::to_string(same) +
                        " than this job has put out there: another program appended them before the job had "
                        "written all settled lines, which are in " +
                        unsettled_.path() +
                        "; remove those bytes, start the job again, and append them then");
}

/// The first byte at which the file and the unsettled one differ; `end` if all before it is equal.
/// @pre end is in both
std::uint64_t file_sink::first_difference(std::uint64_t end) const {
  for (std::uint64_t position = unsettled_.from(); position < end;) {
    const std::size_t bytes = std::min<std::uint64_t>(end - position, copied_at_once);
    const std::string shown = read(position, bytes), put = unsettled_.read(position, bytes);
    const auto differs = std::ranges::mismatch(shown, put).in1;
    if (differs != shown.end()) return position + static_cast<std::uint64_t>(differs - shown.begin());
    position += bytes;
  }
  return end;
}

std::string file_sink::read(std::uint64_t begin, std::size_t bytes) const {
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(file_.get(), text.data(), bytes, static_cast<off_t>(begin));
  if (got != static_cast<ssize_t>(bytes)) throw disk_error("read", path_, got < 0 ? errno : EIO);
  return text;
}

/// Of the file, followed by the lines that are to be appended to it.
std::string file_sink::tail_before(std::uint64_t length) const {
  const std::uint64_t begin = length - std::min<std::uint64_t>(length, max_fingerprinted);
  const std::uint64_t middle = std::clamp(shown_, begin, length);
  std::string tail = read(begin, middle - begin);
  if (middle < length) tail += unsettled_.read(middle, length - middle);
  return tail;
}

/// As in the first line of the hidden file.
std::string file_sink::mark_line() const {
  std::string line = mark_().substr(0, 1000);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

void file_sink::put(const judged_batch& batch) {
  piece kept{batch.from.lane, {}};
  text_.clear();
  for (std::size_t i = 0; i < batch.verdicts.size(); ++i) {
    if (!batch.goes_out(i)) continue;
    (text_ += batch.from.records[i].bytes) += separator_;
    kept.records.push_back({batch.from.records[i].position, unsettled_.to() + text_.size()});
  }
  if (text_.empty()) return;
  put_.push_back(std::move(kept));
  write_unsettled(text_);
}

void file_sink::write_unsettled(std::string_view text) {
  if (unsettled_.is_empty()) unsettled_.begin(mark_line());
  write_past_fault_point(text, "half_put", [this](std::string_view part) { unsettled_.write(part); });
}

std::string file_sink::commit(std::span<const checkpoint> /*reached*/) {
  if (!unsettled_.is_empty()) unsettled_.sync();
  return std::to_string(unsettled_.to()) + ' ' + fingerprint(tail_before(unsettled_.to()));
}

void file_sink::settled() {
  if (!unsettled_.is_empty()) {
    append_up_to(unsettled_.to());
    forget_shown();
  }
  put_.clear();
}

void file_sink::append_up_to(std::uint64_t length) {
  if (length <= shown_) return;
  unsettled_.must_be_as_begun();
  if (::lseek(file_.get(), static_cast<off_t>(shown_), SEEK_SET) < 0) throw disk_error("write", path_, errno);
  output out(file_.get(), path_);
  while (shown_ < length) {
    const std::string text =
        unsettled_.read(shown_, std::min<std::uint64_t>(length - shown_, copied_at_once));
    write_past_fault_point(text, "half_shown", [&out](std::string_view part) { out.write(part); });
    shown_ += text.size();
  }
}

/// Syncs the settled lines before their other copy is removed.
void file_sink::forget_shown() {
  check_disk(disk_.sync_file(file_.get(), path_), "sync", path_);
  unsettled_.clear(shown_);
}

void file_sink::leave_settled(std::string_view note,
                              const std::map<std::string, checkpoint, std::less<>>& reached) {
  show_settled(note);
  const std::uint64_t begin = shown_;
  const std::uint64_t end = unsettled_.to();
  const std::string rest = end > begin ? unsettled_.read(begin, end - begin) : std::string();
  const std::vector<piece> all = std::exchange(put_, {});
  forget_shown();
  std::uint64_t from = 0;  // of a record, in `rest`
  for (const piece& each : all) {
    const auto known = reached.find(each.lane);
    piece kept{each.lane, {}};
    text_.clear();
    for (const auto& [position, ends] : each.records) {
      if (ends <= begin) continue;
      if (known == reached.end() || position >= known->second.position) {
        text_ += std::string_view(rest).substr(from, ends - begin - from);
        kept.records.push_back({position, unsettled_.to() + text_.size()});
      }
      from = ends - begin;
    }
    if (text_.empty()) continue;
    put_.push_back(std::move(kept));
    write_unsettled(text_);
  }
}

void output_sink::begin(std::string_view /*note*/) {
  out_.end_record(separator_, quoted_);
  if (first_) out_.write(*first_ + separator_);
}

void output_sink::put(const judged_batch& batch) {
  text_.clear();
  for (std::size_t i = 0; i < batch.verdicts.size(); ++i)
    if (batch.goes_out(i)) (text_ += batch.from.records[i].bytes) += separator_;
  if (!text_.empty()) out_.write(text_);
}

}  // namespace everseen
