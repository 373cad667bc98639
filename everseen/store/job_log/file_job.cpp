#include "everseen/store/job_log/file_job.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/format/file_names.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/name_file.hpp"

namespace everseen {

namespace {

/// Below this size, compacting a journal saves nothing.
constexpr std::size_t small_bytes = std::size_t{1} << 20;

std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

void make_directory(disk& on, const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    throw disk_error("create the directory", path, errno);
  check_disk(on.sync_directory(path.parent_path()), "sync", path.parent_path());
}

/// Advice for a damaged journal, whose content cannot be recovered.
std::string advice_for(const std::filesystem::path& filter_directory, std::string_view job) {
  return "; continue from a backup of the filter's directory, or, to give up what the job remembers and keep "
         "the filter: everseen jobs " +
         name_argument(presumed_name(filter_directory)) + " --end " + name_argument(job);
}

/// The journal's acknowledged lengths, read before any record.
std::array<std::byte, job_log::lengths_bytes> lengths_in(const descriptor& file) {
  std::array<std::byte, job_log::lengths_bytes> lengths{};
  (void)!::pread(file.get(), lengths.data(), lengths.size(), job_log::lengths_at);
  return lengths;
}

}  // namespace

std::filesystem::path job_path(const std::filesystem::path& filter_directory, std::string_view job) {
  return filter_directory / jobs_name / file_names::of(job);
}

file_job::file_job(disk& on, std::filesystem::path path, job_log::head h, sync_policy policy)
    : job_memory(h.description), disk_(on), path_(std::move(path)), policy_(policy), head_(std::move(h)) {
  head_.boot = disk_.boot();
  head_.synced_always = policy_ == sync_policy::always;
}

std::shared_ptr<file_job> file_job::create(disk& on, const std::filesystem::path& filter_directory,
                                           const image::filter_id& filter, std::string_view name,
                                           std::string_view description, sync_policy policy) {
  const std::filesystem::path path = job_path(filter_directory, name);
  make_directory(on, path.parent_path());
  job_log::head begun;
  begun.description = description;
  begun.job = name;
  begun.filter = filter;
  std::shared_ptr<file_job> made(new file_job(on, path, std::move(begun), policy));
  made->write_anew();
  return made;
}

std::shared_ptr<file_job> file_job::open(disk& on, const std::filesystem::path& filter_directory,
                                         std::string_view name, sync_policy policy,
                                         const job_log::circumstances& current, const add_keys& add) {
  const std::filesystem::path path = job_path(filter_directory, name);
  job_log::content known = read(filter_directory, name, current);
  std::shared_ptr<file_job> job(new file_job(on, path, std::move(known.begun), policy));
  job->records = std::move(known.records);
  job->reached = std::move(known.reached);
  job->lacked_room_ = !add(known.keys);
  if (job->lacked_room_) job->head_.may_lack_steps = true;  // for a process that opens it later
  // Removes the unacknowledged tail and outdated records.
  job->write_anew();
  return job;
}

job_log::content file_job::read(const std::filesystem::path& filter_directory, std::string_view name,
                                const job_log::circumstances& current) try {
  const std::filesystem::path path = job_path(filter_directory, name);
  const descriptor there(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!there && errno == ENOENT) throw format_error(path.string() + " is missing, and the manifest names it");
  if (!there) throw disk_error("open", path, errno);
  // A writer may append concurrently. Everything acknowledged before this point is in the bytes read next.
  const auto lengths = lengths_in(there);
  auto bytes = read_whole(there, path, std::numeric_limits<std::uint64_t>::max());
  if (bytes.size() >= job_log::lengths_at + lengths.size())
    std::ranges::copy(lengths, bytes.begin() + job_log::lengths_at);
  return at_path(path, [&] {
    auto says = job_log::decode({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, current);
    if (says.begun.job == name) return says;
    throw format_error("the journal is that of the job " + quoted_name(says.begun.job));
  });
} catch (const format_error& e) {
  throw format_error(e.what() + advice_for(filter_directory, name));
}

void file_job::remove_stored() {
  failure_ = "the job of " + path_.string() + " was ended";
  file_.reset();
  remove_journal(disk_, path_.parent_path().parent_path(), head_.job);
}

void file_job::note_step(const step& s) {
  append(job_log::encode_step(s), job_log::step_kind);
}

void file_job::note_checkpoints(std::span<const checkpoint> marks) {
  // Compact here, where no claim is in progress: compaction drops keys from the journal, and keys of a claim
  // in progress may not be on the disk yet.
  if ((lengths_.acknowledged >= compact_at_ || head_.may_lack_steps) && failure_.empty()) {
    head_.may_lack_steps = false;  // the caller that settles has been informed
    write_anew();
  }
  append(job_log::encode_marks(marks), job_log::marks_kind);
}

std::string file_job::doubt() const {
  if (lacked_room_)
    return "the filter is full, and had no room for keys of " + path_.string() +
           " that a crash had taken from it: if they occur again, they are fresh once more";
  if (!head_.may_lack_steps) return {};
  return "the machine went down while " + path_.string() +
         " was open, and not every step was synced: the last events before that may be lost or repeated; "
         "sync=always keeps them";
}

void file_job::check_usable() const {
  if (!failure_.empty()) throw storage_error(failure_, 0, path_.string());
}

void file_job::check_synced(int code) {
  if (code == 0) return;
  failure_ = std::string(disk_error("sync", path_, code).what()) + "; the filter must be opened again";
  check_usable();
}

void file_job::append(const std::string& body, char kind) {
  check_usable();
  const std::string record = writer_.record(kind, body);
  // After a failure, the partial record is not acknowledged; the next record overwrites it.
  write_at(lengths_.acknowledged, record);
  const std::size_t length = lengths_.acknowledged + record.size();
  const bool at_once = policy_ == sync_policy::always;
  if (at_once) check_synced(disk_.sync_file(file_->get(), path_));
  put_lengths({length, at_once ? length : lengths_.synced});
  writer_.note_written(record);
}

void file_job::put_lengths(const job_log::lengths& l) {
  const auto both = job_log::encode(l);
  write_at(job_log::lengths_at, {both.data(), both.size()});
  lengths_ = l;
}

void file_job::write_at(std::size_t place, std::string_view bytes) const {
  check_disk(disk_.write(file_->get(), place, bytes_of(bytes), path_), "write", path_);
}

void file_job::sync() {
  std::shared_ptr<const descriptor> file;
  std::size_t length = 0;
  {
    const std::scoped_lock in_order(lock);
    if (!file_) return;  // the job was ended
    check_usable();
    if (lengths_.synced == lengths_.acknowledged) return;
    file = file_;
    length = lengths_.acknowledged;
  }
  const int code = disk_.sync_file(file->get(), path_);  // claims continue meanwhile
  const std::scoped_lock in_order(lock);
  if (file != file_) return;  // it was compacted, which syncs it
  check_synced(code);
  put_lengths({lengths_.acknowledged, std::max(lengths_.synced, length)});
}

void file_job::write_anew() {
  job_log::writer writing;
  std::string all = writing.begin(head_);
  const auto add = [&](char kind, const std::string& body) {
    if (body.empty()) return;
    const std::string record = writing.record(kind, body);
    writing.note_written(record);
    all += record;
  };
  for (const auto& [lane, partitions] : records)
    for (std::uint32_t p = 0; p < partitions.size(); ++p)
      add(job_log::lane_kind, job_log::encode_lane(p, lane, partitions[p]));
  std::vector<checkpoint> marks;
  for (const auto& [lane, mark] : reached) marks.push_back(mark);
  add(job_log::marks_kind, job_log::encode_marks(marks));
  const job_log::lengths whole{all.size(), all.size()};
  std::ranges::copy(job_log::encode(whole), all.begin() + job_log::lengths_at);
  replace_whole(disk_, path_, bytes_of(all));
  try {
    check_disk(disk_.sync_directory(path_.parent_path()), "sync", path_.parent_path());
    file_ = std::make_shared<const descriptor>(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!*file_) throw disk_error("open", path_, errno);
  } catch (const storage_error& e) {
    failure_ = std::string(e.what()) + "; the filter must be opened again";  // either file may be in place
    throw;
  }
  writer_ = writing;
  lengths_ = whole;
  compact_at_ = std::max(small_bytes, 4 * all.size());
}

void remove_journal(disk& on, const std::filesystem::path& filter_directory, std::string_view name) {
  const std::filesystem::path path = job_path(filter_directory, name);
  const int code = on.unlink(path);
  if (code == ENOENT) return;
  check_disk(code, "remove", path);
  check_disk(on.sync_directory(path.parent_path()), "sync", path.parent_path());
}

}  // namespace everseen
