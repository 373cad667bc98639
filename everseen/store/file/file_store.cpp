#include "everseen/store/file/file_store.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/disk/name_file.hpp"
#include "everseen/store/file/file_filter.hpp"
#include "everseen/store/file/file_segments.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/file/staged_filter.hpp"
#include "everseen/store/job_log/file_job.hpp"

namespace everseen {

file_store::file_store(std::filesystem::path directory, sync_policy policy, disk& on, time_source clock)
    : directory_(std::move(directory)),
      policy_(policy),
      disk_(on),
      clock_(std::move(clock)),
      links_(disk_, directory_, clock_) {}

std::shared_ptr<stored_filter> file_store::create(std::string_view name, const spec& s,
                                                  std::optional<std::chrono::milliseconds> life) {
  std::optional<event_time> end;
  if (life) end = end_after(clock_(), *life);
  validate(s);
  (void)make_way_for(name, namesake::refuse);
  make_directories(disk_, std::filesystem::absolute(directory_));
  staged_filter staged(disk_, directory_, end);
  return write(name, staged.commit(name, new_manifest(s)));
}

std::shared_ptr<file_writer> file_store::write(std::string_view name, lock_file lock) const {
  auto opened = std::make_shared<file_writer>(disk_, directory_of(name), std::move(lock), policy_, clock_);
  const std::scoped_lock alone(writing_);
  std::erase_if(writers_, [](const auto& each) { return each.second.expired(); });
  writers_.insert_or_assign(std::string(name), opened);
  return opened;
}

std::shared_ptr<file_writer> file_store::writer_of(std::string_view name) const {
  require(name);
  {
    const std::scoped_lock alone(writing_);
    if (const auto known = writers_.find(name); known != writers_.end())
      if (auto open = known->second.lock()) return open;
  }
  return write(name, lock_filter(name));
}

filter_facts file_store::facts(std::string_view name) const {
  require(name);
  return {read_expiry(directory_of(name)), {}};
}

void file_store::expire_at(std::string_view name, std::optional<event_time> when) {
  writer_of(name)->expire_at(when);
}

std::vector<std::string> file_store::jobs(std::string_view name) const {
  require(name);
  const auto manifest = read_manifest::from(directory_of(name));
  if (!manifest) throw damaged(directory_of(name) / manifest_name, "is missing");
  return manifest->content().jobs;
}

/// None if there is no such filter or its manifest is missing; the next operation on it reports that.
std::vector<std::string> file_store::jobs_of(std::string_view name) const {
  const auto manifest = read_manifest::from(directory_of(name));
  return manifest ? manifest->content().jobs : std::vector<std::string>();
}

std::shared_ptr<stored_filter> file_store::open(std::string_view name, access mode) {
  std::optional<lock_file> lock;
  if (mode == access::write)
    lock = lock_filter(name);  // first, as no link can be made from then on
  else
    require(name);  // before its link: the older filter of an expired one may be gone
  // Once, as it looks at every name of the store.
  if (lock && !has_tidied_.exchange(true)) remove_left_behind(disk_, directory_);
  auto older = links_.of(name);
  const auto open_alone = [&]() -> std::shared_ptr<stored_filter> {
    if (lock) return write(name, *std::move(lock));
    return read(name);
  };
  if (!older) return open_alone();
  const std::string older_name = older->name;
  return open_linked(
      name, *std::move(older), clock_, [&] { return read(older_name); }, open_alone);
}

std::shared_ptr<stored_filter> file_store::read(std::string_view name) const {
  require(name);
  return std::make_shared<file_reader>(disk_, directory_of(name), clock_);
}

void file_store::link(std::string_view older, std::string_view newer,
                      std::optional<std::chrono::milliseconds> life) {
  require(older);
  const lock_file no_job_begins = lock_filter(newer);
  require_no_jobs(newer, jobs_of(newer), "ask an older one first");
  links_.link(older, newer, life);
}

void file_store::unlink(std::string_view newer) {
  require_live(newer, found_in(directory_of(newer)));
  links_.unlink(newer);
}

bool file_store::exists(std::string_view name) const {
  return is_name(name) && found_in(directory_of(name)) == occupant::live;
}

std::vector<std::string> file_store::list() const {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, code)) {
    if (!may_be_filter(entry.path()) || visible_in(entry.path()) != occupant::live) continue;
    std::string name = presumed_name(entry.path());
    if (visible_in(entry.path()) == occupant::live)  // it was not renamed or removed just now
      names.push_back(std::move(name));
  }
  if (code != std::errc::no_such_file_or_directory) check_disk(code.value(), "list", directory_);
  std::ranges::sort(names);
  return names;
}

std::shared_ptr<retry_policy> file_store::wait_with(std::shared_ptr<retry_policy> p) {
  const std::scoped_lock alone(removing_);
  return std::exchange(waiting_, std::move(p));
}

std::shared_ptr<retry_policy> file_store::policy_for_waiting() const {
  const std::scoped_lock alone(removing_);
  return waiting_;
}

std::vector<std::string> file_store::warnings(concern about) const {
  if (about == concern::keys || policy_ == sync_policy::always) return {};
  const std::string when = policy_ == sync_policy::interval ? "once a second" : "when the kernel decides";
  return {"the store writes to the disk " + when +
          ": after a power loss, the last events may be lost or repeated; sync=always keeps "
          "them, as "
          "in --store file:" +
          directory_.string() + "?sync=always"};
}

store_traits file_store::traits() const {
  store_traits mine;
  mine.directory = directory_;
  mine.batches_wait = policy_ == sync_policy::always;
  std::error_code unknown;
  std::filesystem::path there = std::filesystem::absolute(directory_, unknown);
  while (there.has_relative_path() && !std::filesystem::exists(there, unknown)) there = there.parent_path();
  const auto room = std::filesystem::space(there, unknown);
  if (!unknown) mine.room_bytes = room.available;
  return mine;
}

/// Also a filter whose name is lost.
void file_store::drop(std::string_view name) {
  const std::filesystem::path directory = directory_of(name);
  held is = hold(name, [&](occupant found) { require_live(name, found); });
  remove_filter(disk_, directory, *std::move(is.lock), [&] { links_.require_unasked(directory); });
}

void file_store::rename(std::string_view from, std::string_view new_name, namesake there) {
  require(from);
  if (from == new_name && there == namesake::replace) return;
  if (from == new_name) throw filter_exists(new_name);
  if (there == namesake::refuse && exists(new_name)) throw filter_exists(new_name);  // before a wait
  std::optional<lock_file> mine, other;
  // In one order, or two renames could wait for each other: begin again if `to` was created during the wait.
  do {
    mine.reset();
    if (new_name < from) other = make_way_for(new_name, there);
    mine = lock_filter(from);
  } while (new_name < from && !other && found_in(directory_of(new_name)) != occupant::none);
  if (from < new_name) other = make_way_for(new_name, there);
  move_filter(disk_, directory_, from, new_name, *mine, other ? &*other : nullptr, [&] {
    (void)links_.spec_of(from);
    const filter_links all = links_.all();
    require_unlinked(all, from);
    if (other) require_unlinked(all, new_name);
  });
}

void file_store::remove_expired() {
  remove_left_behind(disk_, directory_);
  const auto is_over = [&](const std::filesystem::path& directory) {
    const occupant found = visible_in(directory);
    return found == occupant::expired || found == occupant::replaced;
  };
  std::error_code code;
  std::vector<std::filesystem::path> ended;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, code))
    if (may_be_filter(entry.path()) && is_over(entry.path())) ended.push_back(entry.path());
  for (const std::filesystem::path& directory : ended) {
    const std::scoped_lock alone(removing_);
    if (auto lock = lock_file::try_take_existing(directory / lock_name); lock && is_over(directory))
      remove_filter(disk_, directory, std::move(*lock), [] {});
  }
}

void file_store::reset(std::string_view name) {
  const std::filesystem::path directory = directory_of(name);
  const lock_file lock = lock_filter(name);
  const auto before = read_manifest::from(directory);
  if (!before) throw damaged(directory / manifest_name, "is missing");
  require_no_jobs(name, before->content().jobs, "be reset");
  // A new id keeps readers from taking a new segment for the old one of the same name.
  image::manifest empty = new_manifest(before->content().spec);
  empty.filter = image::id_after_reset(before->content().filter);
  empty.revision = before->content().revision + 1;
  manifest_state ignored;
  replace_manifest(disk_, directory, empty, ignored);
  // If this fails, the next writer removes them.
  for (const image::manifest::entry& gone : before->content().segments)
    (void)disk_.unlink(directory / segments_name / image::to_string(gone.id));
}

std::unique_ptr<store::rebuild> file_store::begin_rebuild(std::string_view name, const spec& s,
                                                          std::span<const partition_state> base) {
  validate(s);
  const auto has_segments = [](const partition_state& p) { return !p.slices.empty(); };
  if (std::ranges::any_of(base, has_segments))
    throw parameter_error("a filter in files cannot be rebuilt from a copy; drop it and import the copy");
  lock_file lock = lock_filter(name);
  if (const auto current = read_manifest::from(directory_of(name)))
    require_rebuildable(current->content().spec, s);
  require_no_jobs(name, jobs_of(name), "be rebuilt");
  return std::make_unique<file_rebuild>(disk_, directory_, name, std::move(lock), policy_, s, clock_);
}

std::unique_ptr<store::restore> file_store::begin_restore(std::string_view name, const spec& s) {
  validate(s);
  (void)make_way_for(name, namesake::refuse);
  make_directories(disk_, std::filesystem::absolute(directory_));
  return std::make_unique<file_restore>(disk_, directory_, name, s);
}

void file_store::end_job(std::string_view name, std::string_view job) try {
  if (!writer_of(name)->end_job(job)) throw no_such_job(name, job);
} catch (const format_error&) {
  // An unreadable journal blocks the whole filter. Ending its job discards the journal.
  const std::filesystem::path directory = directory_of(name);
  const lock_file lock = lock_filter(name);
  const auto before = read_manifest::from(directory);
  if (!before) throw;
  image::manifest without = before->content();
  if (std::erase(without.jobs, job) == 0 || is_sound(directory, job, before->content())) throw;
  ++without.revision;
  manifest_state ignored;
  replace_manifest(disk_, directory, without, ignored);
  remove_journal(disk_, directory, job);
}

bool file_store::is_sound(const std::filesystem::path& directory, std::string_view job,
                          const image::manifest& m) const try {
  (void)file_job::read(directory, job, {m.filter, m.spec.partitions, m.clean, disk_.boot()});
  return true;
} catch (const format_error&) {
  return false;
}

std::filesystem::path file_store::directory_of(std::string_view name) const {
  return find_directory(directory_, name);
}

// How a file_store gets the lock of a filter that it is about to write to, and what it then finds.

file_store::occupant file_store::found_in(const std::filesystem::path& directory) const {
  if (is_replaced(directory)) return occupant::replaced;
  if (!is_filter(directory)) return occupant::none;
  return has_expired(directory, clock_()) ? occupant::expired : occupant::live;
}

file_store::occupant file_store::visible_in(const std::filesystem::path& directory) const try {
  return found_in(directory);
} catch (const storage_error& e) {
  if (e.code() != EACCES) throw;
  return occupant::none;
}

void file_store::require_live(std::string_view name, occupant found) {
  if (found == occupant::expired) throw filter_has_expired(name);
  if (found != occupant::live) throw no_such_filter(name);
}

namespace {

/// A filter whose name is lost is listed, so that it can be dropped; nothing else is done by that name.
void require_name(const std::filesystem::path& directory, std::string_view name) {
  if (is_name_lost(directory, name))
    throw damaged(directory / name, "does not hold the name of the filter, or is missing");
}

}  // namespace

void file_store::require(std::string_view name) const {
  const std::filesystem::path directory = directory_of(name);
  require_live(name, found_in(directory));
  require_name(directory, name);
}

file_store::held file_store::hold(std::string_view name, const std::function<void(occupant)>& accept) const {
  const std::filesystem::path directory = directory_of(name);
  const auto look = [&] {
    const occupant found = found_in(directory);
    accept(found);
    return found;
  };
  if (look() == occupant::none) return {occupant::none, {}};
  std::optional<lock_file> lock;
  try {
    lock = wait_for_lock(name);
  } catch (const no_filter&) {
    accept(occupant::none);
    return {occupant::none, {}};
  }
  const occupant found = look();
  if (found == occupant::none) lock.reset();
  return {found, std::move(lock)};
}

lock_file file_store::lock_filter(std::string_view name) const {
  const std::filesystem::path directory = directory_of(name);
  held is = hold(name, [&](occupant found) {
    require_live(name, found);
    require_name(directory, name);
  });
  keep_names(disk_, directory_);
  return *std::move(is.lock);
}

std::optional<lock_file> file_store::make_way_for(std::string_view name, namesake there) const {
  const std::filesystem::path directory = directory_of(name);
  held place = hold(name, [&](occupant found) {
    if (found != occupant::live) return;
    if (there == namesake::refuse) throw filter_exists(name);
    require_name(directory, name);
  });
  if (!place.lock || place.found == occupant::live) return std::move(place.lock);
  remove_filter(disk_, directory, *std::move(place.lock), [] {});
  return std::nullopt;
}

/// Waits for another writer as long as the policy says; without one, not at all.
lock_file file_store::wait_for_lock(std::string_view name) const {
  constexpr std::chrono::milliseconds pause{50};
  const std::filesystem::path directory = directory_of(name);
  const auto waiting = policy_for_waiting();
  for (std::chrono::milliseconds lasted{0};; lasted += pause) {
    if (auto lock = try_to_lock(name)) {
      if (lasted.count() > 0) waiting->on_recovered();
      return *std::move(lock);
    }
    const std::string why =
        lock_file::holder_of(directory / lock_name) + " is writing to " + directory.string();
    if (!waiting || !waiting->tries_again({why, lasted, {}}))
      throw storage_error(
          why + "; wait until it has closed the filter (the program's --wait does), or open it for reading",
          EWOULDBLOCK, directory.string());
    std::this_thread::sleep_for(pause);
  }
}

std::optional<lock_file> file_store::try_to_lock(std::string_view name) const {
  const std::scoped_lock after_removing(removing_);  // else remove_expired() would look like a writer
  try {
    return lock_file::try_take(directory_of(name) / lock_name);
  } catch (const storage_error& e) {
    if (e.code() == ENOENT) throw no_such_filter(name);  // dropped a moment ago
    throw;
  }
}

}  // namespace everseen
