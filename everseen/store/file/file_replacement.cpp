#include "everseen/store/file/file_replacement.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "everseen/core/base/error.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/whole_file.hpp"
#include "everseen/store/file/file_filter.hpp"
#include "everseen/store/file/manifest_file.hpp"

namespace everseen {

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
