#include "everseen/store/file/staged_filter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/file_names.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/name_file.hpp"
#include "everseen/store/file/file_filter.hpp"
#include "everseen/store/file/file_links.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/job_log/file_job.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

namespace {

constexpr std::string_view hidden_prefix = ".new.";
constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr const char* store_lock_name = ".lock";

std::filesystem::path hidden_name(const std::filesystem::path& store) {
  std::string name(hidden_prefix);
  for (const std::uint8_t byte : image::random_filter_id()) {
    name += {hex_digits[byte >> 4], hex_digits[byte & 15]};
  }
  return store / name;
}

/// Whether hidden_name() could have created this name. Other names are left alone.
bool is_hidden_name(std::string_view name) noexcept {
  constexpr std::size_t digits = 2 * image::filter_id{}.size();
  return name.size() == hidden_prefix.size() + digits && name.starts_with(hidden_prefix) &&
         name.find_first_not_of(hex_digits, hidden_prefix.size()) == std::string_view::npos;
}

/// Only the owner can access a filter's directory, since the manifest holds the secret seed. Files inside
/// follow the umask. So opening the directory is enough to share a filter, and replacing a manifest does not
/// revert it.
constexpr mode_t filter_mode = 0700;
constexpr mode_t segments_mode = 0777;

void make_directory(const std::filesystem::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0) throw disk_error("create the directory", path, errno);
}

/// Removes the files that everseen creates in a filter's directory, and the directory if nothing else is in
/// it. The lock file is last: until then no other process considers the directory abandoned.
/// @return an errno: ENOTEMPTY if other files are there
int remove_own_files(const std::filesystem::path& directory) noexcept try {
  std::error_code code;
  const std::filesystem::path segments = directory / segments_name;
  // Collect names first: iterating over a directory while it changes is unspecified.
  std::vector<std::filesystem::path> own;
  for (std::filesystem::directory_iterator at(segments, code), end; !code && at != end; at.increment(code))
    if (is_segment_name(at->path().filename().native())) own.push_back(at->path());
  for (const char* name : {manifest_name, new_manifest_name, link_name, new_link_name, end_name, new_end_name,
                           replaced_name, new_replaced_name})
    own.push_back(directory / name);
  const std::filesystem::path jobs = directory / jobs_name;
  for (std::filesystem::directory_iterator at(jobs, code), end; !code && at != end; at.increment(code))
    own.push_back(at->path());
  for (const auto& path : own) ::unlink(path.c_str());
  (void)remove_names(directory, true);
  ::rmdir(segments.c_str());
  ::rmdir(jobs.c_str());
  ::unlink((directory / lock_name).c_str());
  return ::rmdir(directory.c_str()) == 0 || errno == ENOENT ? 0 : errno;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

struct left_behind {
  std::filesystem::path directory;
  lock_file lock;
};

/// Directories abandoned by processes that crashed while they created or removed a filter: their lock is
/// free. That they are abandoned survives a power loss, which else might give one back the name of its
/// filter.
/// @pre the store's lock is held, so a directory without a locked lock file is abandoned
std::vector<left_behind> take_left_behind(disk& on, const std::filesystem::path& store) {
  std::vector<left_behind> found;
  std::error_code code;  // leftovers cost space, not correctness
  for (std::filesystem::directory_iterator at(store, code), end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (!is_hidden_name(at->path().filename().native())) continue;
    if (at->symlink_status(ignored).type() != std::filesystem::file_type::directory) continue;
    try {
      if (auto lock = lock_file::try_take_existing(at->path() / lock_name))
        found.push_back({at->path(), std::move(*lock)});
      else
        ::rmdir(at->path().c_str());  // a crash before the lock file leaves nothing else
    } catch (const storage_error&) {
      // it belongs to another user
    }
  }
  if (!found.empty()) check_disk(on.sync_directory(store), "sync", store);
  return found;
}

bool is_there(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw disk_error("look at", path, errno);
}

}  // namespace

lock_file lock_store(const std::filesystem::path& store_directory) {
  return lock_file::take(store_directory / store_lock_name);
}

void keep_names(disk& on, const std::filesystem::path& store_directory) {
  const int code = on.sync_directory(store_directory);
  if (code == EACCES) return;  // the owner of the store lets this user change its own filter only
  check_disk(code, "sync", store_directory);
}

void remove_left_behind(disk& on, const std::filesystem::path& store_directory) noexcept try {
  std::vector<left_behind> old;
  {
    const auto alone = lock_file::try_take(store_directory / store_lock_name);
    if (!alone) return;
    old = take_left_behind(on, store_directory);
  }
  for (const left_behind& each : old) (void)remove_own_files(each.directory);
} catch (const std::exception&) {
  // leftovers cost space, not correctness
}

staged_filter::staged_filter(disk& on, std::filesystem::path store_directory, std::optional<event_time> end)
    : disk_(on), store_(std::move(store_directory)), end_(end), directory_(hidden_name(store_)) {
  std::vector<left_behind> old;
  {
    const lock_file alone = lock_store(store_);
    old = take_left_behind(disk_, store_);
    make_directory(directory_, filter_mode);
    try {
      lock_ = lock_file::try_take(directory_ / lock_name);
      make_directory(directory_ / segments_name, segments_mode);
    } catch (...) {
      (void)remove_own_files(directory_);
      throw;
    }
  }
  // Outside the store's lock, which is held only briefly: files may be large and many.
  for (const left_behind& each : old) (void)remove_own_files(each.directory);
}

staged_filter::~staged_filter() {
  if (!directory_.empty()) (void)remove_own_files(directory_);  // after a failure, the next one retries
}

/// Writes everything that a filter has; the manifest comes last.
void staged_filter::complete(const image::manifest& m) {
  check_disk(disk_.sync_directory(directory_ / segments_name), "sync", directory_ / segments_name);
  write_expiry(disk_, directory_, end_);
  write_no_link(disk_, directory_);
  manifest_state ignored;
  replace_manifest(disk_, directory_, m, ignored);
}

lock_file staged_filter::commit(std::string_view name, const image::manifest& m) {
  const std::filesystem::path place = store_ / file_names::of(name);
  write_name(disk_, directory_, name);
  complete(m);
  // rename(2) does not replace a directory with files, and a filter always has files.
  const int code = disk_.rename(directory_, place);
  if ((code == ENOTEMPTY || code == EEXIST) && is_filter(place)) throw filter_exists(name);
  if (code == ENOTEMPTY || code == EEXIST || code == ENOTDIR)
    throw storage_error(
        place.string() + " is there already and is not a filter; move it away or choose another name", code,
        place.string());
  check_disk(code, "rename the new filter to", place);
  directory_.clear();
  check_disk(disk_.sync_directory(store_), "sync", store_);
  return std::move(*lock_);
}

lock_file staged_filter::open(const image::manifest& m) {
  complete(m);
  return std::move(*lock_);
}

void staged_filter::take_place_of(std::string_view name, const std::function<void()>& close) {
  const std::filesystem::path place = store_ / file_names::of(name);
  write_name(disk_, directory_, name);
  // Without its lock the directory would look abandoned, but the lock of the store prevents that.
  const lock_file alone = lock_store(store_);
  close();
  write_expiry(disk_, directory_, read_expiry(place));
  carry_link(disk_, place, directory_);
  check_disk(disk_.exchange(directory_, place), "put the new filter in place of", place);
  check_disk(disk_.sync_directory(store_), "sync", store_);
}

namespace {

/// @param was  the former path, for the message
void remove_hidden(const std::filesystem::path& hidden, const std::filesystem::path& was) {
  const int code = remove_own_files(hidden);
  if (code == ENOTEMPTY || code == EEXIST)
    throw storage_error("the filter in " + was.string() +
                            " is gone, and files beside it that are not everseen's were left in " +
                            hidden.string() + "; move them away and remove that directory",
                        code, hidden.string());
  check_disk(code, "remove", hidden);
}

}  // namespace

void remove_filter(disk& on, const std::filesystem::path& filter_directory, lock_file /*lock*/,
                   const std::function<void()>& require_unused) {
  const std::filesystem::path store_directory = filter_directory.parent_path();
  const std::filesystem::path hidden = hidden_name(store_directory);
  {
    const lock_file alone = lock_store(store_directory);
    require_unused();
    check_disk(on.rename(filter_directory, hidden), "remove", filter_directory);
    check_disk(on.sync_directory(store_directory), "sync", store_directory);
  }
  remove_hidden(hidden, filter_directory);
}

namespace {

/// For file systems that cannot exchange names. A crash between the two steps leaves the filter under its old
/// name, and none under the new name.
void replace_in_two_steps(disk& on, const std::filesystem::path& old, const std::filesystem::path& place,
                          const std::filesystem::path& hidden, std::string_view new_name) {
  check_disk(on.rename(place, hidden), "remove", place);
  const int code = on.rename(old, place);
  if (code != 0) (void)on.rename(hidden, place);
  if ((code == ENOTEMPTY || code == EEXIST) && is_filter(place)) throw filter_exists(new_name);
  check_disk(code, "rename the filter to", place);
}

/// After a crash between the steps, the replaced filter has the old name and is marked. It is removed when a
/// filter of that name is created next, or with expired filters.
void replace_filter(disk& on, const std::filesystem::path& old, const std::filesystem::path& place,
                    const std::filesystem::path& hidden, std::string_view new_name) {
  mark_replaced(on, place, old.filename());
  const int code = on.exchange(old, place);
  if (code == EINVAL || code == ENOSYS || code == EOPNOTSUPP)
    return replace_in_two_steps(on, old, place, hidden, new_name);
  check_disk(code, "rename the filter to", place);
  check_disk(on.sync_directory(place.parent_path()), "sync", place.parent_path());
  check_disk(on.rename(old, hidden), "remove the filter that was replaced, in", old);
}

}  // namespace

void move_filter(disk& on, const std::filesystem::path& store_directory, std::string_view from,
                 std::string_view new_name, const lock_file& /*lock*/, const lock_file* other,
                 const std::function<void()>& require_unused) {
  const std::filesystem::path old = store_directory / file_names::of(from);
  const std::filesystem::path place = store_directory / file_names::of(new_name);
  const std::filesystem::path hidden = hidden_name(store_directory);
  {
    const lock_file alone = lock_store(store_directory);
    require_unused();
    unmark_replaced(on, old);
    write_name(on, old, new_name);
    if (other != nullptr) {
      replace_filter(on, old, place, hidden, new_name);
    } else {
      const int code = on.rename(old, place);
      if ((code == ENOTEMPTY || code == EEXIST) && is_filter(place)) throw filter_exists(new_name);
      check_disk(code, "rename the filter to", place);
    }
    check_disk(on.sync_directory(store_directory), "sync", store_directory);
    (void)remove_names(place, false);  // what remains is removed with the filter
  }
  if (other != nullptr) remove_hidden(hidden, place);
}

bool is_filter(const std::filesystem::path& directory) {
  return (is_there(directory / manifest_name) || is_there(directory / segments_name)) &&
         !is_replaced(directory);
}

file_rebuild::file_rebuild(disk& on, const std::filesystem::path& store_directory, std::string_view name,
                           lock_file lock, sync_policy policy, const spec& s, time_source clock)
    : name_(name), lock_(std::move(lock)), staged_(on, store_directory) {
  image::manifest empty;
  empty.filter = image::random_filter_id();
  empty.spec = s;
  empty.clean = true;
  target_ =
      std::make_shared<file_writer>(on, staged_.directory(), staged_.open(empty), policy, std::move(clock));
}

file_rebuild::~file_rebuild() = default;

std::shared_ptr<stored_filter> file_rebuild::target() {
  return target_;
}

void file_rebuild::merge(const segment_id& /*id*/, std::span<const std::byte> /*bits*/) {
  throw parameter_error("a filter in files cannot be rebuilt from a copy; drop it and import the copy");
}

void file_rebuild::commit() {
  target_->sync();
  staged_.take_place_of(name_, [this] { target_.reset(); });
}

file_restore::file_restore(disk& on, const std::filesystem::path& store_directory, std::string_view name,
                           const spec& s)
    : disk_(on),
      name_(name),
      staged_(disk_, store_directory),
      manifest_(new_manifest(s)),
      states_(s.partitions) {}

std::span<std::byte> file_restore::add_segment(const segment_id& id, const layer_state& layer) {
  if (id.partition >= states_.size())
    throw format_error("partition " + std::to_string(id.partition) + " is beyond the filter's " +
                       std::to_string(states_.size()) + "; make the image again");
  restore_layer(states_[id.partition], id, layer);
  files_.push_back(segment_file::create(disk_, staged_.directory() / segments_name,
                                        {manifest_.filter, id, layer.shape, layer.capacity, layer.keys}));
  manifest_.segments.push_back({id, layer.shape, layer.capacity});
  return {files_.back()->bits(), layer.shape.bytes};
}

void file_restore::commit() {
  std::ranges::sort(manifest_.segments, {}, &image::manifest::entry::id);
  for (const auto& file : files_) {
    file->raise_keys_to_bits();  // a writer may have been active during the copy
    file->sync();
  }
  staged_.commit(name_, manifest_);
}

void mark_replaced(disk& on, const std::filesystem::path& filter_directory, const std::string& when_named) {
  replace_whole(on, filter_directory / replaced_name, std::as_bytes(std::span(when_named)));
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

void unmark_replaced(disk& on, const std::filesystem::path& filter_directory) {
  const int code = on.unlink(filter_directory / replaced_name);
  if (code == ENOENT) return;
  check_disk(code, "remove", filter_directory / replaced_name);
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

// The mark is written before two directories exchange their names, and holds the name that its directory then
// has. So it counts from the exchange on, whenever a crash comes.
bool is_replaced(const std::filesystem::path& filter_directory) {
  const std::filesystem::path path = filter_directory / replaced_name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (!file) throw disk_error("open", path, errno);
  const std::string name = filter_directory.filename();
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("look at", path, errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != name.size()) return false;
  return std::ranges::equal(read_whole(file, path, name.size()), std::as_bytes(std::span(name)));
}

}  // namespace everseen
