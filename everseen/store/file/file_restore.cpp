#include "everseen/store/file/file_restore.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"
#include "everseen/store/file/manifest_file.hpp"

namespace everseen {

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

}  // namespace everseen
