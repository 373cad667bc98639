#include "everseen/store/file/expiry_file.hpp"

#include <cerrno>

#include <fcntl.h>

#include "everseen/core/format/end_record.hpp"
#include "everseen/store/disk/whole_file.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/file/staged_filter.hpp"
#include "everseen/store/port/damage.hpp"

namespace everseen {

std::optional<event_time> read_expiry(const std::filesystem::path& filter_directory) {
  const std::filesystem::path path = filter_directory / end_name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT && errno != ENOTDIR) throw disk_error("open", path, errno);
  if (!file && !is_filter(filter_directory)) return std::nullopt;
  if (!file) throw damaged(path, "is missing");
  return at_path(path, [&] { return image::decode_end(read_whole(file, path, image::end_bytes)); });
}

bool has_expired(const std::filesystem::path& filter_directory, event_time now) try {
  const auto end = read_expiry(filter_directory);
  return end && *end <= now;
} catch (const format_error&) {
  return false;
}

void write_expiry(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when) {
  replace_whole(on, filter_directory / end_name, image::encode_end(when));
}

}  // namespace everseen
