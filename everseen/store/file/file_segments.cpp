#include "everseen/store/file/file_segments.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <unordered_set>

#include "everseen/core/base/assert.hpp"

namespace everseen {

file_segments::file_segments(disk& on, std::filesystem::path filter_directory, const image::manifest& m,
                             access mode, const file_segments* before)
    : disk_(on),
      directory_(std::move(filter_directory)),
      id_(m.filter),
      spec_(m.spec),
      was_clean_(m.clean),
      partitions_(m.spec.partitions),
      manifest_(m) {
  for (const image::manifest::entry& entry : m.segments) {
    partition_files& files = partitions_[entry.id.partition];
    auto known = before == nullptr ? nullptr : before->find(entry.id);
    if (known == nullptr || known->shape() != entry.shape)
      known = segment_file::open(disk_, segments_directory(), m.filter, entry, mode);
    files.push_back(std::move(known));
  }
  dirty_.reserve(m.segments.size());
}

std::vector<partition_state> file_segments::states() const {
  std::vector<partition_state> states(partitions_.size());
  for (const image::manifest::entry& entry : manifest_.segments) {
    auto& slices = states[entry.id.partition].slices;
    if (slices.empty() || slices.back().index != entry.id.slice) slices.push_back({entry.id.slice, {}});
    slices.back().layers.push_back({entry.shape, entry.capacity, keys(entry.id)});
  }
  return states;
}

std::uint64_t file_segments::keys(const segment_id& id) const {
  return get(id).keys();
}

std::byte* file_segments::at(const segment_id& id) const noexcept {
  return get(id).bits();
}

std::size_t file_segments::place_of(const segment_id& id) const noexcept {
  const partition_files& files = partitions_[id.partition];
  const auto found =
      std::lower_bound(files.begin(), files.end(), id,
                       [](const auto& file, const segment_id& wanted) { return file->id() < wanted; });
  return static_cast<std::size_t>(found - files.begin());
}

std::shared_ptr<segment_file> file_segments::find(const segment_id& id) const noexcept {
  const partition_files& files = partitions_[id.partition];
  const std::size_t place = place_of(id);
  return place < files.size() && files[place]->id() == id ? files[place] : nullptr;
}

segment_file& file_segments::get(const segment_id& id) const noexcept {
  const std::size_t place = place_of(id);
  EVERSEEN_ASSERT(place < partitions_[id.partition].size() && partitions_[id.partition][place]->id() == id);
  return *partitions_[id.partition][place];
}

// The order decides what a crash may leave. First the file and its name in the directory are on the disk,
// then the manifest names it: a manifest never names a missing file. A file that no manifest names is an
// orphan, which the next writer removes.
void file_segments::create(const segment_id& id, const geometry& shape, std::uint64_t capacity) {
  check_usable();
  partition_files& files = partitions_[id.partition];
  files.reserve(files.size() + 1);  // may throw, so it comes before any change
  auto file = segment_file::create(disk_, segments_directory(), {id_, id, shape, capacity, 0});
  const std::scoped_lock alone(manifest_lock_);
  reached_ = manifest_state::unchanged;
  try {
    check_disk(disk_.sync_directory(segments_directory()), "sync", segments_directory());
    {
      const std::scoped_lock noting(dirty_lock_);
      dirty_.reserve(manifest_.segments.size() + 1);
    }
    image::manifest next = manifest_;
    const image::manifest::entry entry{id, shape, capacity};
    const auto place =
        std::find_if(next.segments.begin(), next.segments.end(), [&](const auto& e) { return id < e.id; });
    next.segments.insert(place, entry);
    publish(std::move(next));
  } catch (...) {
    // If the new manifest may be in place, the file that it names must stay.
    if (reached_ != manifest_state::uncertain) (void)disk_.unlink(file->path());
    throw;
  }
  files.insert(files.begin() + static_cast<std::ptrdiff_t>(place_of(id)), std::move(file));
}

// In the reverse order: the manifest no longer names the files when they are unlinked.
void file_segments::drop_before(std::uint32_t partition, window::slice_index oldest) {
  check_usable();
  const auto is_old = [&](const segment_id& id) { return id.partition == partition && id.slice < oldest; };
  {
    const std::scoped_lock alone(manifest_lock_);
    image::manifest next = manifest_;
    std::erase_if(next.segments, [&](const auto& entry) { return is_old(entry.id); });
    publish(std::move(next));
  }
  {
    const std::scoped_lock alone(dirty_lock_);
    std::erase_if(dirty_, [&](const auto& file) { return is_old(file->id()); });  // else it would stay mapped
  }
  std::erase_if(partitions_[partition], [&](const auto& file) {
    if (!is_old(file->id())) return false;
    (void)disk_.unlink(file->path());  // if this fails, the next writer removes it
    return true;
  });
}

void file_segments::note_keys(const segment_id& id, std::uint64_t keys) noexcept {
  segment_file& noted = get(id);
  noted.set_keys(keys);
  if (!noted.mark_dirty()) return;
  const std::scoped_lock alone(dirty_lock_);
  dirty_.push_back(find(id));
}

std::vector<std::string> file_segments::jobs() const {
  const std::scoped_lock alone(manifest_lock_);
  return manifest_.jobs;
}

void file_segments::name_job(std::string_view name) {
  const std::scoped_lock alone(manifest_lock_);
  image::manifest next = manifest_;
  const auto place = std::ranges::lower_bound(next.jobs, name);
  if (place != next.jobs.end() && *place == name) return;
  next.jobs.emplace(place, name);
  publish(std::move(next));
}

void file_segments::forget_job(std::string_view name) {
  const std::scoped_lock alone(manifest_lock_);
  image::manifest next = manifest_;
  if (std::erase(next.jobs, name) > 0) publish(std::move(next));
}

void file_segments::begin_writing() {
  remove_orphans();
  if (!manifest_.clean && !manifest_.segments.empty()) recover_key_counts();
  if (!manifest_.clean) return;
  const std::scoped_lock alone(manifest_lock_);
  image::manifest next = manifest_;
  next.clean = false;
  publish(std::move(next));
}

void file_segments::end_writing() {
  sync();
  const std::scoped_lock alone(manifest_lock_);
  image::manifest next = manifest_;
  next.clean = true;
  publish(std::move(next));
}

void file_segments::sync() {
  const std::scoped_lock one_at_a_time(sync_lock_);  // a waiting caller finds its keys already synced
  check_usable();
  {
    const std::scoped_lock alone(dirty_lock_);
    syncing_.assign(dirty_.begin(), dirty_.end());  // without memory, nothing has changed
    dirty_.clear();
  }
  try {
    for (const auto& file : syncing_) file->sync();
  } catch (const std::exception& e) {  // in any case, these segments no longer count as dirty
    fail(e.what());
    throw;
  }
  syncing_.clear();
}

void file_segments::publish(image::manifest next) {
  check_usable();
  next.revision = manifest_.revision + 1;
  try {
    replace_manifest(disk_, directory_, next, reached_);
  } catch (const storage_error& e) {
    if (reached_ == manifest_state::uncertain) fail(e.what());
    throw;
  }
  manifest_ = std::move(next);
}

void file_segments::remove_orphans() const {
  (void)disk_.unlink(directory_ / new_manifest_name);
  std::unordered_set<std::string> named;
  for (const image::manifest::entry& entry : manifest_.segments) named.insert(image::to_string(entry.id));
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(segments_directory(), code)) {
    const std::string name = file.path().filename();
    if (!named.contains(name) && is_segment_name(name)) (void)disk_.unlink(file.path());
  }
  check_disk(code.value(), "list", segments_directory());
}

// A crash may have left bits on the disk whose keys were not counted yet. A count is raised to what the bits
// show, and never lowered: a layer must not take more keys than its error rate allows.
void file_segments::recover_key_counts() {
  for (const partition_files& files : partitions_)
    for (const auto& file : files) {
      const std::uint64_t stored = file->keys();
      file->raise_keys_to_bits();
      if (file->keys() == stored) continue;
      if (file->mark_dirty()) dirty_.push_back(file);
    }
}

void file_segments::check_usable() const {
  const std::scoped_lock alone(failure_lock_);
  if (!failure_.empty())
    throw storage_error("the filter stopped writing because the disk failed: " + failure_ +
                            "; open it again once the disk is well",
                        EIO, directory_.string());
}

void file_segments::fail(const std::string& why) {
  const std::scoped_lock alone(failure_lock_);
  if (failure_.empty()) failure_ = why;
}

}  // namespace everseen
