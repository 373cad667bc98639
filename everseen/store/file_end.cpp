#include "everseen/store/file_end.hpp"

#include <cerrno>

#include <fcntl.h>

#include "everseen/core/end_record.hpp"
#include "everseen/store/damage.hpp"
#include "everseen/store/manifest_file.hpp"
#include "everseen/store/whole_file.hpp"

namespace everseen {

std::optional<event_time> end_in(const std::filesystem::path& filter_directory) {
  const std::filesystem::path path = filter_directory / end_name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  return at_path(path, [&] { return image::decode_end(read_whole(file, path, image::end_bytes)); });
}

void write_end(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when) {
  const std::filesystem::path path = filter_directory / end_name;
  if (when) {
    replace_whole(on, path, image::encode_end(*when));
  } else if (const int code = on.unlink(path); code != ENOENT) {
    check_disk(code, "remove", path);
  }
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

}  // namespace everseen
