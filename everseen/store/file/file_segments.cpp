#include "everseen/store/file/file_segments.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/store/disk/disk.hpp"

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

// A writer that crashed may have left its manifest visible, and not yet permanent. From now on keys are
// acknowledged that only segments of this manifest hold, and files are removed that the previous one names.
void file_segments::begin_writing() {
  const std::vector<std::filesystem::path> left = orphans();
  if (!manifest_.clean || !left.empty()) check_disk(disk_.sync_directory(directory_), "sync", directory_);
  for (const std::filesystem::path& orphan : left) (void)disk_.unlink(orphan);
  (void)disk_.unlink(directory_ / new_manifest_name);
  if (!manifest_.clean) return recover_segments();
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

std::vector<std::filesystem::path> file_segments::orphans() const {
  std::vector<std::filesystem::path> found;
  std::unordered_set<std::string> named;
  for (const image::manifest::entry& entry : manifest_.segments) named.insert(image::to_string(entry.id));
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(segments_directory(), code)) {
    const std::string name = file.path().filename();
    if (!named.contains(name) && is_segment_name(name)) found.push_back(file.path());
  }
  check_disk(code.value(), "list", segments_directory());
  return found;
}

// A crash may have left bits on the disk whose keys were not counted yet. A count is raised to what the bits
// show, and never lowered: a layer must not take more keys than its error rate allows.
//
// Nor is it known which bits were synced. A key is seen because of any of them, so the next sync includes
// all.
void file_segments::recover_segments() {
  for (const partition_files& files : partitions_)
    for (const auto& file : files) {
      file->raise_keys_to_bits();
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

namespace {

image::segment_header decode_header(const mapped_file& file) {
  std::array<std::byte, image::segment_header_bytes> header;
  std::memcpy(header.data(), file.bytes().data(), header.size());
  return at_path(file.path(), [&] { return image::decode_segment_header(header); });
}

void check_is_named(const mapped_file& file, const image::segment_header& found,
                    const image::filter_id& filter, const image::manifest::entry& entry) {
  if (found.filter != filter) throw damaged(file.path(), "belongs to another filter");
  if (found.id != entry.id)
    throw damaged(file.path(), "is segment " + image::to_string(found.id) + " under this name");
  if (found.shape != entry.shape || found.capacity != entry.capacity)
    throw damaged(file.path(), "has another shape than the manifest says");
}

}  // namespace

std::shared_ptr<segment_file> segment_file::create(disk& on, const std::filesystem::path& directory,
                                                   const image::segment_header& header) {
  const auto head = image::encode_segment_header(header);
  return std::make_shared<segment_file>(
      mapped_file::create(on, directory / image::to_string(header.id), head, page_bytes + header.shape.bytes),
      header);
}

std::shared_ptr<segment_file> segment_file::open(disk& on, const std::filesystem::path& directory,
                                                 const image::filter_id& filter,
                                                 const image::manifest::entry& entry, access mode) {
  const std::filesystem::path path = directory / image::to_string(entry.id);
  auto file = mapped_file::open(on, path, mode);
  if (!file) throw damaged(path, "is missing, and the manifest names it");
  const std::uint64_t should = page_bytes + entry.shape.bytes;
  if (file->bytes().size() != should)
    throw damaged(path, "is " + std::to_string(file->bytes().size()) + " bytes long instead of " +
                            std::to_string(should));
  const image::segment_header header = decode_header(*file);
  check_is_named(*file, header, filter, entry);
  return std::make_shared<segment_file>(std::move(*file), header);
}

segment_file::segment_file(mapped_file file, const image::segment_header& header) noexcept
    : file_(std::move(file)), id_(header.id), shape_(header.shape) {}

std::uint64_t segment_file::keys() const {
  const std::uint64_t word = key_count_word().load(std::memory_order_acquire);
  return at_path(path(), [&] { return image::decode_key_count(word); });
}

// Count and check are one word, stored in one step: another process, or a reader after a crash, finds the old
// count or the new one.
void segment_file::set_keys(std::uint64_t keys) noexcept {
  key_count_word().store(image::encode_key_count(keys), std::memory_order_release);
}

void segment_file::raise_keys_to_bits() {
  const std::uint64_t counted = keys();
  const std::uint64_t recovered = recovered_keys(counted, shape_, {bits(), shape_.bytes});
  if (recovered > counted) set_keys(recovered);
}

void segment_file::sync() {
  dirty_ = false;  // cleared first, so that later changes mark it dirty again
  file_.sync();
}

std::atomic_ref<std::uint64_t> segment_file::key_count_word() const noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(file_.bytes().data() + image::key_count_offset));
}

namespace {

void write_head(int file, std::span<const std::byte> head, const std::filesystem::path& path) {
  const ssize_t written = ::pwrite(file, head.data(), head.size(), 0);
  if (written < 0) throw disk_error("write", path, errno);
  // Within one reserved page the kernel writes all or nothing; a shorter write is a faulty disk.
  if (static_cast<std::size_t>(written) != head.size()) throw disk_error("write", path, EIO);
}

}  // namespace

// Space is reserved before the file is mapped: a full disk is an error here, and not a SIGBUS when a bit is
// set.
mapped_file mapped_file::create(disk& on, const std::filesystem::path& path, std::span<const std::byte> head,
                                std::uint64_t bytes) {
  const descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) throw disk_error("create", path, errno);
  try {
    check_disk(on.reserve(file.get(), bytes, path), "reserve space for", path);
    write_head(file.get(), head, path);
    check_disk(on.sync_file(file.get(), path), "sync", path);
    return {on, path, file.get(), bytes, access::write};
  } catch (...) {
    ::unlink(path.c_str());  // nothing refers to it; if this fails too, the next writer removes it
    throw;
  }
}

std::optional<mapped_file> mapped_file::open(disk& on, const std::filesystem::path& path, access mode) {
  const int flags = (mode == access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  const descriptor file(::open(path.c_str(), flags));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("read the length of", path, errno);
  return mapped_file(on, path, file.get(), static_cast<std::size_t>(status.st_size), mode);
}

mapped_file::mapped_file(disk& on, std::filesystem::path path, int file, std::size_t size, access mode)
    : disk_(&on), path_(std::move(path)), size_(size) {
  if (size == 0) return;  // mmap rejects an empty range; the owner reports the short file
  const int protection = mode == access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* bytes = ::mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) throw disk_error("map", path_, errno);
  memory_ = static_cast<std::byte*>(bytes);
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : disk_(other.disk_),
      path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

mapped_file::~mapped_file() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

void mapped_file::sync() const {
  check_disk(disk_->sync_mapping(memory_, size_, path_), "sync", path_);
}

}  // namespace everseen
