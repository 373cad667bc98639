#include "everseen/store/file_job.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/spec.hpp"
#include "everseen/store/damage.hpp"
#include "everseen/store/job_journal.hpp"
#include "everseen/store/whole_file.hpp"

namespace everseen {

namespace {

/// Below this nothing is won by writing a journal anew.
constexpr std::size_t small_bytes = std::size_t{1} << 20;

std::span<const std::byte> bytes_of(const std::string& text) noexcept {
  return std::as_bytes(std::span(text));
}

void make_directory(disk& on, const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    throw disk_error("create the directory", path, errno);
  check_disk(on.sync_directory(path.parent_path()), "sync", path.parent_path());
}

bool is_job_name(const std::string& name) {
  try {
    validate_filter_name(name);
    return !name.ends_with(".new");
  } catch (const parameter_error&) {
    return false;
  }
}

}  // namespace

file_job::file_job(disk& on, std::filesystem::path path, std::string what, sync_policy policy)
    : job_memory(std::move(what)), disk_(on), path_(std::move(path)), policy_(policy) {}

std::shared_ptr<file_job> file_job::create(disk& on, const std::filesystem::path& filter_directory,
                                           std::string_view name, std::string_view description,
                                           sync_policy policy) {
  if (name.ends_with(".new"))
    throw parameter_error(
        "the job '" + std::string(name) +
        "' cannot be kept in files, which have that ending for themselves; call it otherwise");
  const std::filesystem::path path = filter_directory / jobs_name / name;
  make_directory(on, path.parent_path());
  std::shared_ptr<file_job> made(new file_job(on, path, std::string(description), policy));
  made->write_anew();
  return made;
}

std::shared_ptr<file_job> file_job::open(disk& on, const std::filesystem::path& filter_directory,
                                         std::string_view name, sync_policy policy, std::uint32_t partitions,
                                         const add_keys& add) {
  const std::filesystem::path path = filter_directory / jobs_name / name;
  job_journal::content known = read(filter_directory, name, partitions);
  std::shared_ptr<file_job> job(new file_job(on, path, std::move(known.description), policy));
  job->records = std::move(known.records);
  job->reached = std::move(known.reached);
  add(known.keys);
  // What was cut off goes, and so does what is outdated.
  job->write_anew();
  return job;
}

job_journal::content file_job::read(const std::filesystem::path& filter_directory, std::string_view name,
                                    std::uint32_t partitions) {
  const std::filesystem::path path = filter_directory / jobs_name / name;
  const descriptor there(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!there) throw disk_error("open", path, errno);
  const auto bytes = read_whole(there, path, std::numeric_limits<std::uint64_t>::max());
  return at_path(path, [&] {
    return job_journal::decode({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, partitions);
  });
}

void file_job::note_end() {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) throw disk_error("remove", path_, errno);
  failure_ = "the job of " + path_.string() + " was ended";
  check_disk(disk_.sync_directory(path_.parent_path()), "sync", path_.parent_path());
}

void file_job::note_step(const step& s) {
  append(job_journal::encode_step(s), job_journal::step_kind);
}

void file_job::note_checkpoints(std::span<const checkpoint> marks) {
  // Here, where no claim is under way: keys of one that is may not be on the disk yet, and are forgotten.
  if (bytes_ >= compact_at_ && failure_.empty()) write_anew();
  append(job_journal::encode_marks(marks), job_journal::marks_kind);
}

void file_job::append(const std::string& body, char kind) {
  if (!failure_.empty()) throw storage_error(failure_, 0, path_.string());
  const std::string record = job_journal::encode_record(kind, body);
  try {
    write_all(file_.get(), bytes_of(record), path_);
    if (policy_ == sync_policy::always) check_disk(disk_.sync_file(file_.get(), path_), "sync", path_);
  } catch (const storage_error& e) {
    // A part of it would cut off all that follows.
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0)
      failure_ = std::string(e.what()) + "; the filter must be opened again";
    throw;
  }
  bytes_ += record.size();
}

void file_job::write_anew() {
  const std::string all = whole();
  replace_whole(disk_, path_, bytes_of(all));
  check_disk(disk_.sync_directory(path_.parent_path()), "sync", path_.parent_path());
  file_ = descriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file_) {
    failure_ = disk_error("open", path_, errno).what();
    throw storage_error(failure_, errno, path_.string());
  }
  bytes_ = all.size();
  compact_at_ = std::max(small_bytes, 4 * bytes_);
}

std::string file_job::whole() const {
  std::string all = job_journal::encode_head(description);
  for (const auto& [lane, partitions] : records)
    for (std::uint32_t p = 0; p < partitions.size(); ++p)
      if (const std::string record = job_journal::encode_record_of(p, lane, partitions[p]); !record.empty())
        all += record;
  std::vector<checkpoint> marks;
  for (const auto& [source, mark] : reached) marks.push_back(mark);
  if (!marks.empty())
    all += job_journal::encode_record(job_journal::marks_kind, job_journal::encode_marks(marks));
  return all;
}

std::vector<std::string> jobs_in(const std::filesystem::path& filter_directory) {
  const std::filesystem::path directory = filter_directory / jobs_name;
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(directory, code))
    if (std::string name = entry.path().filename(); is_job_name(name)) names.push_back(std::move(name));
  if (code != std::errc::no_such_file_or_directory) check_disk(code.value(), "list", directory);
  std::ranges::sort(names);
  return names;
}

}  // namespace everseen
